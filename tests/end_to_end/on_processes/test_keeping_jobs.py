"""Can a job be pinned and deleted in the browser, and does its log go on when its place is gone?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.end_to_end.browser import NARROW, expect_no_sideways_scroll, keep_screenshot
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.waiting import job_of, until

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def ended(stack: RunningStack) -> Iterator[dict[str, Any]]:
    """A job that wrote one line."""
    with stack.client("vision") as client:
        answer = client.post(
            "/api/v1/jobs",
            json={
                "name": "brief",
                "command": ["python", "-c", "print('all there is')"],
                "elastic": {"mode": "restart", "min_workers": 1, "max_workers": 1},
            },
        )
        assert answer.status_code == 201, answer.text
        job: dict[str, Any] = answer.json()
        until(lambda: job_of(client, job["id"])["state"] == "completed", what="it is over")
        yield job


def test_a_pinned_job_stays_until_it_is_unpinned_and_deleted(
    stack: RunningStack, page: Page, ended: dict[str, Any]
) -> None:
    page.goto(f"/jobs/{ended['id']}")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Pin", exact=True).click()
    dialog.get_by_role("button", name="Pin", exact=True).click()
    unpin = page.get_by_role("button", name="Unpin")
    expect(unpin).to_be_visible()
    expect(page.get_by_role("button", name="Delete job")).to_be_hidden()
    unpin.click()
    expect(dialog).to_contain_text("nobody can bring it back")
    dialog.get_by_role("button", name="Unpin").click()

    page.get_by_role("button", name="Delete job").click()
    expect(dialog).to_contain_text("Lost for good: its checkpoints")
    keep_screenshot(page, "delete-job")
    dialog.get_by_role("button", name="Keep as it is").click()
    expect(dialog).to_be_hidden()
    page.set_viewport_size(NARROW)
    expect_no_sideways_scroll(page)
    keep_screenshot(page, "delete-job-narrow")
    page.get_by_role("button", name="Delete job").click()
    dialog.get_by_role("button", name="Delete job").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    with stack.client("vision") as client:
        assert client.get(f"/api/v1/jobs/{ended['id']}").status_code == 404


def test_a_log_whose_place_is_refused_starts_again_from_what_is_left(
    page: Page, ended: dict[str, Any]
) -> None:
    """The service itself refuses it; only the stream before comes from here."""
    asked: list[dict[str, list[str]]] = []
    line = {"at": "2026-11-22T12:00:00Z", "worker": "x", "stream": "stdout", "text": "of before"}

    def answer(route: Route) -> None:
        asked.append(parse_qs(urlsplit(route.request.url).query))
        if len(asked) > 1:
            route.continue_()
            return
        body = f"id: no place at all\ndata: {json.dumps(line)}\n\n"
        route.fulfill(status=200, content_type="text/event-stream", body=body)

    page.route("**/logs?follow=true*", answer)
    page.goto(f"/jobs/{ended['id']}")
    lines = page.get_by_role("log").get_by_role("paragraph")
    expect(lines.filter(has_text="all there is")).to_be_visible()
    expect(lines.filter(has_text="of before")).to_be_visible()
    expect(page.get_by_text("complete, 2 lines")).to_be_visible()
    assert [one.get("after") for one in (asked[0], asked[1], asked[-1])] == [
        None,
        ["no place at all"],
        None,
    ]
