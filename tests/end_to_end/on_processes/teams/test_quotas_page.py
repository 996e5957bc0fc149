"""Is seen what another quota would have meant before it is saved, and what a GPU of it is worth?"""

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

    answer_with(page, "quota-previews", result)


def effect(saved: float, language: float) -> dict[str, Any]:
    others = [{"team": "language", "job_hours_saved": language}]
    return {"team": outcome(), "job_hours_saved": saved, "others": others}


def answer_with_a_price(page: Page) -> None:
    """The past of this stack is what other tests left; this one has something to tell."""
    worth = {-2: -6.5, -1: -2.0, 1: 1.5, 2: 2.4, 4: 2.5}
    result = {
        "until": "2026-11-01T12:00:00Z",
        "jobs": 80,
        "now": outcome(),
        "without_borrowing": effect(-12.0, 3.0),
        "steps": [
            {"gpus": gpus, "adds_gpus": max(gpus - 2, 0), **effect(saved, -saved / 2)}
            for gpus, saved in worth.items()
        ],
    }

    answer_with(page, "quota-prices", result)


def answer_with(page: Page, address: str, result: dict[str, Any]) -> None:
    def answer(route: Route) -> None:
        found = route.fetch()
        document = {**found.json(), "state": "completed", "progress": 1.0, "result": result}
        route.fulfill(response=found, body=json.dumps(document))

    page.route(re.compile(rf"/api/v1/{address}(/\w+)?$"), answer)


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


def test_a_lead_finds_out_what_the_guarantee_is_worth(page: Page) -> None:
    answer_with_a_price(page)
    page.goto("/teams/vision/usage")
    page.get_by_role("button", name="Find out").click()
    told = page.get_by_role("status", name="What it is worth")
    expect(told).to_contain_text("What it borrowed saved 12.0 hours of its jobs.")
    expect(told).to_contain_text("One GPU more would have saved 1.5 hours of its jobs a week.")
    rows = page.get_by_role("list", name="By GPUs").get_by_role("listitem")
    expect(rows).to_have_count(5)
    expect(rows.first).to_contain_text("2 GPUs fewer")
    expect(rows.first).to_contain_text("6.5 job-hours lost")
    expect(rows.last).to_contain_text("others: 1.3 job-hours lost · 2 GPUs of them bought")
    assert violations_in_both_themes(page, told) == []  # and a reload keeps what was asked
    look_wide_and_narrow(page, told, name="guarantee-worth")
