"""Does a sweep of real trainings stop bad trials, and is the best trained to its end and shown?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.accessibility import (
    look_wide_and_narrow,
    violations,
    violations_in_both_themes,
)
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.waiting import REGISTRATION, until

pytestmark = pytest.mark.timeout(600)

SCRIPT: Final = Path(__file__).parents[2] / "scripts" / "tuned_regression.py"
RATES: Final = (0.001, 0.003, 0.01, 0.3)
EPOCHS: Final = 4
SPEC: Final = {
    "name": "tuned",
    "command": [sys.executable, str(SCRIPT), "--lr", "{{lr}}", "--epochs", str(EPOCHS)],
    "elastic": {"registration_timeout": REGISTRATION},
    "batch": {"global_batch_size": 8},
    "sweep": {
        "parameters": {"lr": list(RATES)},
        "metric": {"name": "loss"},
        "max_running": 4,
        "asha": {"min": 1, "max": EPOCHS, "reduction": 2},
    },
}


@pytest.fixture(scope="module")
def swept(stack: RunningStack) -> dict[str, Any]:
    """A sweep that was begun and has come to its end."""
    with stack.client("vision") as client:
        answer = client.post("/api/v1/sweeps", json=SPEC)
        assert answer.status_code == 201, answer.text
        path = f"/api/v1/sweeps/{answer.json()['id']}"

        def ended() -> dict[str, Any] | None:
            sweep: dict[str, Any] = client.get(path).json()
            return sweep if sweep["ended_at"] else None

        return until(ended, what="the sweep ends", seconds=400)


def test_bad_trials_are_stopped_and_the_best_trains_to_its_end(swept: dict[str, Any]) -> None:
    told = [(one["values"]["lr"], one["state"], one["reason"]) for one in swept["items"]]
    by_rate = {one["values"]["lr"]: one for one in swept["items"]}
    assert by_rate.keys() == set(RATES)
    best = by_rate[0.3]
    assert swept["best"] == best["id"]
    assert (best["state"], best["resource"]) == ("completed", EPOCHS), told
    stopped = [one for one in swept["items"] if one["reason"] == "stopped_by_sweep"]
    for one in stopped:
        assert one["state"] == "cancelled"
        assert one["value"] > best["value"]
        assert one["marks"][0]["value"] > best["marks"][0]["value"]
    assert by_rate[0.001] in stopped, told  # others may be the best of those that came first


def test_the_page_of_a_sweep_shows_its_trials_and_names_the_best(
    page: Page, swept: dict[str, Any]
) -> None:
    page.goto("/jobs")
    page.get_by_role("link", name="Sweeps", exact=True).click()
    expect(page.get_by_role("heading", name="Sweeps", exact=True)).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name=SPEC["name"], exact=True).click()
    best = page.get_by_role("status").filter(has_text="Best")
    expect(best).to_contain_text("with lr 0.3")
    rows = page.get_by_role("row")
    expect(rows).to_have_count(1 + len(RATES))
    expect(rows.nth(1)).to_contain_text("best")
    expect(rows.nth(1)).to_contain_text("completed")
    expect(rows.filter(has_text="stopped")).not_to_have_count(0)
    chart = page.get_by_label(f"loss of {len(RATES)} trials over epochs")
    expect(chart).to_be_visible()
    assert violations_in_both_themes(page, best) == []
    look_wide_and_narrow(page, best, name="sweep")
    best.get_by_role("link").click()
    page.get_by_role("link", name=f"sweep {swept['id']}").click()
    expect(best).to_be_visible()
