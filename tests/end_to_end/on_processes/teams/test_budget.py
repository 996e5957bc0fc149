"""Does an admin give a team GPU-hours for a month in the browser, and does its page show them?"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg2
import pytest
from local_stack.processes import embedded_postgres
from playwright.sync_api import Page, expect

from tests.end_to_end.accessibility import violations_in_both_themes
from tests.end_to_end.browser import keep_screenshot
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(600)
TEAM = "thrifty"


@pytest.fixture
def team(stack: RunningStack) -> Iterator[str]:
    """A team that no other test sees."""
    address = embedded_postgres.url(stack.checkout.runtime_dir)
    with psycopg2.connect(address) as database, database.cursor() as cursor:
        cursor.execute("INSERT INTO tenancy_team (name, created_at) VALUES (%s, now())", [TEAM])
    yield TEAM
    with psycopg2.connect(address) as database, database.cursor() as cursor:
        cursor.execute(
            "DELETE FROM tenancy_teamlimits WHERE team_id ="
            " (SELECT id FROM tenancy_team WHERE name = %s)",
            [TEAM],
        )
        cursor.execute("DELETE FROM tenancy_team WHERE name = %s", [TEAM])


def test_a_budget_is_set_and_shown_with_what_follows(page: Page, team: str) -> None:
    page.goto(f"/teams/{team}/usage")
    page.get_by_role("button", name="Change limits").click()
    form = page.get_by_role("dialog", name=f"Limits of team {team}")
    form.get_by_label("GPU-hours per month").fill("100")
    form.get_by_label("Running jobs", exact=True).fill("4")
    form.get_by_label("When the GPU-hours are used up").select_option("pause")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    card = page.get_by_role("region", name="Budget and limits")
    expect(card).to_contain_text("of 100.0 GPU-hours used")
    expect(card).to_contain_text("Its people are told at 80 GPU-hours.")
    expect(card).to_contain_text("running jobs pause, and none starts")
    expect(card).to_contain_text("at most 4")
    assert violations_in_both_themes(page, card) == []
    keep_screenshot(page, "team-budget")
