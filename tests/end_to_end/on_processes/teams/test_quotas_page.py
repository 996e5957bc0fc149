"""Does an admin see what another quota would have meant before saving it, and take it back?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Page, Route, expect

from tests.end_to_end.accessibility import look_wide_and_narrow, violations_in_both_themes
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(600)
TEAM: Final = "sight"


@pytest.fixture
def team(stack: RunningStack) -> Iterator[str]:
    """A team below vision that no other test sees: what it is promised is vision's already."""
    stack.make_team(TEAM, parent="vision")
    yield TEAM
    stack.remove_team(TEAM)


def outcome(**changes: Any) -> dict[str, Any]:
    plain = {"guaranteed_gpus": 2, "jobs": 40, "finished": 40, "wait_seconds": 720.0}
    hours = {"gpu_hours": 30.0, "borrowed_gpu_hours": 12.0, "lent_gpu_hours": 3.0}
    return {**plain, "completion_seconds": 3600.0, **hours, "paused_jobs": 0, **changes}


def answer_with_a_result(page: Page) -> None:
    """The past of this stack is what other tests left; this one has something to tell."""
    teams = {
        "vision": (outcome(), outcome(wait_seconds=1860.0, lent_gpu_hours=5.5)),
        "language": (outcome(), outcome(wait_seconds=600.0, borrowed_gpu_hours=4.0)),
    }
    result = {
        "until": "2026-11-01T12:00:00Z",
        "jobs": 80,
        "teams": [
            {"team": name, "pool": "default", "before": before, "after": after}
            for name, (before, after) in teams.items()
        ],
        "paused": [{"team": "vision", "name": "resnet"}],
    }

    def answer(route: Route) -> None:
        found = route.fetch()
        document = {**found.json(), "state": "completed", "progress": 1.0, "result": result}
        route.fulfill(response=found, body=json.dumps(document))

    page.route(re.compile(r"/api/v1/quota-previews(/\w+)?$"), answer)


def test_a_quota_is_previewed_saved_and_taken_back(page: Page, team: str) -> None:
    page.goto("/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Quotas").click()
    field = page.get_by_label(f"GPUs guaranteed to {team}")
    expect(field).to_have_value("0")
    field.fill("99")
    page.get_by_role("button", name="Save 1 change").click()
    row = page.get_by_role("listitem").filter(has=field)
    expect(row).to_contain_text("Its parent vision is guaranteed")

    field.fill("1")
    answer_with_a_result(page)
    page.get_by_role("button", name="Preview", exact=True).click()
    told = page.get_by_role("status", name="What it would have meant")
    expect(told).to_contain_text("vision waits 12 min → 31 min, lends 2.5 GPU-h more.")
    expect(told).to_contain_text("language waits 12 min → 10 min, borrows 8.0 GPU-h less.")
    expect(told).to_contain_text("1 job would have been paused: vision/resnet.")
    assert violations_in_both_themes(page, told) == []  # and a reload keeps the draft
    expect(field).to_have_value("1")

    page.get_by_role("button", name="Save 1 change").click()
    changes = page.get_by_role("region", name="Changes")
    expect(changes.get_by_role("listitem").first).to_contain_text(f"{team} in default")
    page.get_by_role("button", name="Undo the last save").click()
    expect(changes.get_by_role("listitem").first).to_contain_text("guaranteed GPUs 1 → 0")
    expect(field).to_have_value("0")
    field.fill("2")
    page.emulate_media(color_scheme="light")
    expect(page.get_by_text(f"With {team} at 1 GPU:")).to_be_visible()  # not of the new draft
    look_wide_and_narrow(page, told, name="quotas")
