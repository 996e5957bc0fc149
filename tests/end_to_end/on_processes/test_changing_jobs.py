"""Can a job be changed in the browser while it lives, and run again when it has ended?"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.browser import NARROW, keep_screenshot, scroll_width
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.waiting import job_of, until

pytestmark = pytest.mark.timeout(600)


def submitted(stack: RunningStack, name: str, command: list[str]) -> dict[str, Any]:
    spec = {
        "name": name,
        "command": command,
        "elastic": {"mode": "restart", "min_workers": 1, "max_workers": 1},
    }
    with stack.client("vision") as client:
        answer = client.post("/api/v1/jobs", json=spec)
        assert answer.status_code == 201, answer.text
        job: dict[str, Any] = answer.json()
        return job


def test_a_live_job_is_changed_and_what_cannot_be_is_refused_in_words(
    stack: RunningStack, page: Page
) -> None:
    job = submitted(stack, "changeable", ["python", "-c", "import time; time.sleep(600)"])
    page.goto(f"/jobs/{job['id']}")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Change", exact=True).click()
    dialog.get_by_label("Fewest workers").fill("3")
    dialog.get_by_role("button", name="Change", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("greater than max_workers")
    dialog.get_by_label("Fewest workers").fill("1")
    dialog.get_by_label("Priority").fill("60")
    keep_screenshot(page, "change-job")
    page.set_viewport_size(NARROW)
    assert scroll_width(page) <= NARROW["width"]
    dialog.get_by_role("button", name="Change", exact=True).click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("priority from 50 to 60")).to_be_visible()
    with stack.client("vision") as client:
        assert job_of(client, job["id"])["priority"] == 60
        client.post(f"/api/v1/jobs/{job['id']}/cancel")


def test_a_job_that_has_ended_runs_again(stack: RunningStack, page: Page) -> None:
    job = submitted(stack, "repeatable", ["python", "-c", "print('done')"])
    with stack.client("vision") as client:
        until(lambda: job_of(client, job["id"])["state"] == "completed", what="it is over")
    page.goto(f"/jobs/{job['id']}")
    page.get_by_role("button", name="Run again").click()
    page.get_by_role("dialog").get_by_role("button", name="Run again").click()
    expect(page.get_by_text(job["id"])).to_be_hidden()
    expect(page.get_by_role("heading", name="repeatable")).to_be_visible()
    with stack.client("vision") as client:
        jobs = client.get("/api/v1/jobs", params={"search": "repeatable"}).json()["items"]
        assert len(jobs) == 2
