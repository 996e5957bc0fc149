"""Can a job be changed in the browser while it lives, and run again when it has ended?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.browser import NARROW, expect_no_sideways_scroll, keep_screenshot
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.waiting import job_of, until

pytestmark = pytest.mark.timeout(600)

ENDED = {"completed", "failed", "cancelled"}


@contextmanager
def submitted(
    stack: RunningStack, name: str, command: list[str], **more: Any
) -> Iterator[dict[str, Any]]:
    """A job of one worker, which holds no GPU any more in the end, whatever the test found."""
    spec = {
        "name": name,
        "command": command,
        "elastic": {"mode": "restart", "min_workers": 1, "max_workers": 1},
        **more,
    }
    with stack.client("vision") as client:
        answer = client.post("/api/v1/jobs", json=spec)
        assert answer.status_code == 201, answer.text
        job: dict[str, Any] = answer.json()
        try:
            yield job
        finally:
            client.post(f"/api/v1/jobs/{job['id']}/cancel", json={})
            until(lambda: job_of(client, job["id"])["state"] in ENDED, what=f"{name} has ended")


@pytest.fixture
def changeable(stack: RunningStack) -> Iterator[dict[str, Any]]:
    command = ["python", "-c", "import time; time.sleep(600)"]
    with submitted(stack, "changeable", command) as job:
        yield job


@pytest.fixture
def repeatable(stack: RunningStack) -> Iterator[dict[str, Any]]:
    with submitted(stack, "repeatable", ["python", "-c", "print('done')"]) as job:
        yield job


def test_a_live_job_is_changed_and_what_cannot_be_is_refused_in_words(
    stack: RunningStack, page: Page, changeable: dict[str, Any]
) -> None:
    page.goto(f"/jobs/{changeable['id']}")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Change", exact=True).click()
    dialog.get_by_label("Fewest workers").fill("3")
    dialog.get_by_role("button", name="Change", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("greater than max_workers")
    dialog.get_by_label("Fewest workers").fill("1")
    dialog.get_by_label("Priority").fill("60")
    keep_screenshot(page, "change-job")
    page.set_viewport_size(NARROW)
    expect_no_sideways_scroll(page)
    dialog.get_by_role("button", name="Change", exact=True).click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("priority from 50 to 60")).to_be_visible()
    with stack.client("vision") as client:
        assert job_of(client, changeable["id"])["priority"] == 60


def test_a_job_that_has_ended_runs_again(
    stack: RunningStack, page: Page, repeatable: dict[str, Any]
) -> None:
    with stack.client("vision") as client:
        until(lambda: job_of(client, repeatable["id"])["state"] == "completed", what="it is over")
    page.goto(f"/jobs/{repeatable['id']}")
    page.get_by_role("button", name="Run again", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Run again").click()
    expect(page.get_by_text(repeatable["id"])).to_be_hidden()
    expect(page.get_by_role("heading", name="repeatable")).to_be_visible()
    with stack.client("vision") as client:
        jobs = client.get("/api/v1/jobs", params={"search": "repeatable"}).json()["items"]
        assert len(jobs) == 2
        (again,) = (job for job in jobs if job["id"] != repeatable["id"])
        until(lambda: job_of(client, again["id"])["state"] == "completed", what="it is over too")


def test_a_job_that_waits_for_another_and_that_one_lead_to_each_other(
    stack: RunningStack, page: Page, changeable: dict[str, Any]
) -> None:
    command = ["python", "-c", "print('done')"]
    with submitted(stack, "follower", command, depends_on=[changeable["id"]]) as follower:
        page.goto(f"/jobs/{follower['id']}")
        expect(page.get_by_text(f"Waits for changeable ({changeable['id']})").first).to_be_visible()
        waits_for = page.get_by_role("region", name="Waits for")
        expect(waits_for).to_contain_text("to complete")
        page.set_viewport_size(NARROW)
        expect_no_sideways_scroll(page)
        keep_screenshot(page, "dependencies-narrow")
        waits_for.get_by_role("link", name="changeable").click()
        expect(page.get_by_role("heading", name="changeable")).to_be_visible()
        awaited_by = page.get_by_role("region", name="Awaited by")
        awaited_by.get_by_role("link", name="follower").click()
        expect(page.get_by_role("heading", name="follower")).to_be_visible()
