"""Does the page of a team say how it stands, and what its jobs do, as it happens?"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.accessibility import violations, violations_in_both_themes
from tests.end_to_end.browser import NARROW, expect_no_sideways_scroll, keep_screenshot
from tests.end_to_end.live_page import events_of, wait_for_reads
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.waiting import until

pytestmark = pytest.mark.timeout(600)

SENT = {"/api/v1/teams", "/api/v1/pools", "/api/v1/jobs", "/api/v1/jobs:sparklines"}
STRETCH = 20_000  # milliseconds


def test_a_team_is_sent_its_numbers_and_jobs_and_asks_for_nothing(
    page: Page, stack: RunningStack
) -> None:
    sent, asked = events_of(page), list[str]()
    page.clock.install()
    page.goto("/")
    page.get_by_role("listitem", name="Team vision").get_by_role("link", name="vision").click()
    standing = page.get_by_role("region", name="Standing")
    with stack.client("vision") as client:
        (told,) = (one for one in client.get("/api/v1/teams").json()["items"] if one["is_mine"])
    expect(standing.get_by_role("group", name="Guaranteed")).to_contain_text(
        f"{told['guaranteed']} GPUs"
    )
    expect(standing.get_by_role("group", name="Waiting")).to_contain_text("for at least")
    wait_for_reads(page, sent, SENT)
    page.on("request", lambda request: asked.append(request.url))

    def asks_for_nothing() -> bool:
        """Its clock is put forward; what it is not sent, it would ask for every two seconds."""
        asked.clear()
        page.clock.run_for(STRETCH)
        page.wait_for_timeout(50)
        return all("/api/v1/live?" in url for url in asked)  # which comes anew at times

    until(asks_for_nothing, what="a stretch in which it asks for nothing")
    assert violations_in_both_themes(page, standing) == []
    keep_screenshot(page, "team")
    page.get_by_role("link", name="All jobs of vision").click()
    expect(page.get_by_label("Team", exact=True)).to_have_value("vision")


def test_each_part_can_be_used_on_a_phone(page: Page) -> None:
    page.set_viewport_size(NARROW)
    page.goto("/teams/vision")
    for part, shown in {
        "Now": "Running",
        "Usage": "By person",
        "People and tokens": "Who may what",
        "Secrets, rules, storage": "Retention",
    }.items():
        page.get_by_role("navigation", name="Team vision").get_by_role("link", name=part).click()
        expect(page.get_by_role("region", name=shown)).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        expect_no_sideways_scroll(page)
        assert violations(page) == []
        keep_screenshot(page, f"team-narrow-{part.split()[0].lower()}")
