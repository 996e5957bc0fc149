"""Can a team's secrets be set and deleted in the browser, without ever being shown?"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Response, expect

from tests.end_to_end.browser import NARROW, expect_no_sideways_scroll, keep_screenshot
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(600)

CANARY = "canary-3c8d"


def test_a_secret_is_set_listed_and_deleted(page: Page, stack: RunningStack) -> None:
    heard: list[Response] = []

    def hear(answer: Response) -> None:
        heard.append(answer)

    page.on("response", hear)
    page.goto("/")
    page.get_by_role("listitem", name="Team vision").get_by_role("link", name="vision").click()
    page.get_by_role("link", name="Secrets, rules, storage").click()
    expect(page.get_by_text("No secrets yet")).to_be_visible()

    page.get_by_role("button", name="New secret").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill("wandb")
    dialog.get_by_label("Variable", exact=True).fill("CONCERTINA_KEY")
    dialog.get_by_label("Value", exact=True).fill(CANARY)
    assert CANARY in values_of_fields(page)
    dialog.get_by_role("button", name="Keep secret").click()
    expect(dialog.get_by_role("alert")).to_contain_text("is one the platform sets itself")
    keep_screenshot(page, "secret-form")
    dialog.get_by_label("Variable", exact=True).fill("WANDB_API_KEY")
    dialog.get_by_role("button", name="Keep secret").click()

    secret = page.get_by_role("listitem", name="Secret wandb")
    expect(secret).to_contain_text("WANDB_API_KEY")
    expect(secret).to_contain_text("no live job needs it")
    expect(dialog).to_be_hidden()  # a moment after the list is there
    assert CANARY not in page.content()
    assert CANARY not in values_of_fields(page)
    told = [answer.text() for answer in heard if "/api/v1/teams/vision/secrets" in answer.url]
    assert any("WANDB_API_KEY" in text for text in told)
    assert not any(CANARY in text for text in told)
    keep_screenshot(page, "team-setup")
    page.set_viewport_size(NARROW)
    expect_no_sideways_scroll(page)
    keep_screenshot(page, "team-setup-narrow")

    with stack.client("vision") as client:
        (kept,) = client.get("/api/v1/teams/vision/secrets").json()["items"]
        assert kept["variables"] == ["WANDB_API_KEY"]
    secret.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete secret").click()
    expect(page.get_by_text("No secrets yet")).to_be_visible()


def values_of_fields(page: Page) -> list[str]:
    """What is typed in, which is no part of the page's content."""
    fields = page.locator("input, textarea").evaluate_all("all => all.map(one => one.value)")
    return list(map(str, fields))


def test_how_long_logs_are_kept_is_chosen_within_bounds(page: Page) -> None:
    page.goto("/teams/vision/setup")
    logs = page.get_by_role("listitem", name="Retention of logs")
    expect(logs).to_contain_text("as the installation says")
    logs.get_by_role("button").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Keep").select_option("days")
    dialog.get_by_label("Days", exact=True).fill("5")
    dialog.get_by_label("At least (days)").fill("7")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("at least 7 days")
    keep_screenshot(page, "retention-form")
    dialog.get_by_label("Days", exact=True).fill("10")
    dialog.get_by_role("button", name="Save").click()
    expect(logs).to_contain_text("10 days")
    expect(logs).to_contain_text("as the team chose · admins allow at least 7 days")
    expect(dialog).to_be_hidden()
    keep_screenshot(page, "team-retention")

    logs.get_by_role("button").click()
    dialog.get_by_label("Keep").select_option("usual")
    dialog.get_by_label("At least (days)").fill("")
    dialog.get_by_role("button", name="Save").click()
    expect(logs).to_contain_text("as the installation says")


def test_what_the_jobs_of_a_team_keep_is_shown_with_those_that_keep_most(
    page: Page, stack: RunningStack
) -> None:
    page.goto("/teams/vision/setup")
    storage = page.get_by_role("region", name="Storage")
    expect(storage.get_by_role("progressbar")).to_be_visible()
    expect(storage).to_contain_text("of 4.88 TiB")
    with stack.client("vision") as client:
        kept = client.get("/api/v1/teams/vision/storage").json()
    for job in kept["jobs"][:5]:
        expect(storage.get_by_role("link", name=job["name"], exact=True).first).to_be_visible()
