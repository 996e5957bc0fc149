"""Does one come to a job, a team, a node or a page by typing a part of its name?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.accessibility import violations
from tests.end_to_end.browser import NARROW, expect_no_sideways_scroll, keep_screenshot
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def job(stack: RunningStack) -> Iterator[dict[str, Any]]:
    """One that needs not start to be found."""
    with stack.client("vision") as client:
        answer = client.post(
            "/api/v1/jobs", json={"name": "sought-after", "command": ["python", "none.py"]}
        )
        assert answer.status_code == 201, answer.text
        yield answer.json()
        client.post(f"/api/v1/jobs/{answer.json()['id']}/cancel", json={})


def test_keys_alone_lead_to_a_job_a_team_and_a_node(
    page: Page, stack: RunningStack, job: dict[str, Any]
) -> None:
    page.goto("/")
    button = page.get_by_role("button", name="Go to")
    expect(button).to_be_visible()
    page.keyboard.press("Control+k")
    search = page.get_by_role("combobox", name="Go to")
    expect(search).to_be_focused()
    page.keyboard.type("sought")
    expect(page.get_by_role("option", name="sought-after", selected=True)).to_be_visible()
    assert violations(page) == []
    keep_screenshot(page, "palette")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{stack.url}/jobs/{job['id']}")
    for typed, address in {"vision": "/teams/vision", "price": "/autoscaler"}.items():
        page.keyboard.press("Control+k")
        expect(search).to_be_focused()
        page.keyboard.type(typed)
        page.get_by_role("option", name=typed).first.click()
        expect(page).to_have_url(f"{stack.url}{address}")
    page.keyboard.press("Control+k")
    expect(search).to_be_focused()
    page.keyboard.press("Escape")
    expect(search).to_have_count(0)
    expect(button).to_be_focused()


def test_a_phone_comes_to_every_page(page: Page) -> None:
    page.set_viewport_size(NARROW)
    page.goto("/jobs")
    page.get_by_role("button", name="Go to").click()
    expect(page.get_by_role("option", name="Quotas")).to_be_visible()
    expect_no_sideways_scroll(page)
    keep_screenshot(page, "palette-narrow")
    page.get_by_role("option", name="Your account").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.url.endswith("/account")
