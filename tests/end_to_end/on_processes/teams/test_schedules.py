"""Are a team's schedules seen in the browser, and run, paused and resumed there?"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.browser import NARROW, expect_no_sideways_scroll, keep_screenshot
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(600)
ONE = "/api/v1/teams/vision/schedules/yearly"


def test_a_schedule_is_seen_run_paused_and_resumed(page: Page, stack: RunningStack) -> None:
    with stack.client("vision") as client:
        spec = {"name": "yearly", "command": ["python", "-c", "pass"]}
        body = {"name": "yearly", "spec": spec, "cron": "0 2 1 1 *", "time_zone": "Europe/Berlin"}
        answer = client.post("/api/v1/teams/vision/schedules", json=body)
        assert answer.status_code == 201, answer.text

        page.goto("/teams/vision")
        row = page.get_by_role("listitem", name="Schedule yearly")
        expect(row).to_contain_text("0 2 1 1 * in Europe/Berlin")
        expect(row).to_contain_text("Due next in")
        row.get_by_role("button", name="Run yearly now").click()
        expect(row.get_by_role("link")).to_contain_text("yearly-")
        (run,) = client.get(ONE).json()["runs"]
        assert (run["state"], len(run["jobs"])) == ("submitted", 1)

        row.get_by_role("button", name="Pause yearly").click()
        expect(row).to_contain_text("Paused by")
        keep_screenshot(page, "team-schedules")
        page.set_viewport_size(NARROW)
        expect_no_sideways_scroll(page)
        keep_screenshot(page, "team-schedules-narrow")
        row.get_by_role("button", name="Resume yearly").click()
        expect(row).to_contain_text("Due next in")
        assert not client.get(ONE).json()["is_paused"]
        assert client.delete(ONE).status_code == 204
        expect(row).to_be_hidden(timeout=30_000)
