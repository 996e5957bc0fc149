"""Does one ask in the browser what another policy would have done, and see what came out?"""

from __future__ import annotations

import csv
import io
import re
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.accessibility import (
    look_wide_and_narrow,
    violations,
    violations_in_both_themes,
)

pytestmark = pytest.mark.timeout(600)

SIMULATED: Final = 300_000  # milliseconds; a process of its own runs it, on a busy machine


def test_a_workload_is_simulated_under_two_policies_and_asked_again(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/")
    page.get_by_role("button", name="More").click()
    page.get_by_role("link", name="Simulations").click()
    page.get_by_role("button", name="New simulation").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="made up").check()
    expect(dialog.get_by_role("checkbox", name="static")).to_be_checked()
    dialog.get_by_role("spinbutton", name="Jobs").fill("6")
    dialog.get_by_label("With options").fill("fixed_batch:batch=largest")
    assert violations(page) == []
    dialog.get_by_role("button", name="Simulate").click()
    expect(dialog.get_by_role("alert")).to_contain_text("batch")  # there is no such option
    dialog.get_by_label("With options").fill("")
    dialog.get_by_role("button", name="Simulate").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("6 poisson jobs at load 0.8")
    table = page.get_by_role("table", name="How each run went")
    expect(table.get_by_role("row")).to_have_count(3, timeout=SIMULATED)
    expect(table.get_by_role("row", name="static")).to_contain_text("6 of 6")
    verdict = page.get_by_role("status").filter(has_text=re.compile("static|completion_time"))
    expect(verdict).to_be_visible()
    assert violations_in_both_themes(page, table) == []
    page.get_by_role("button", name="Copy as CSV: all figures").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    rows = [*csv.DictReader(io.StringIO(str(page.evaluate("navigator.clipboard.readText()"))))]
    assert [(row["run"], row["done"]) for row in rows] == [
        ("completion_time", "6"),
        ("static", "6"),
    ]
    with page.expect_download() as report:
        page.get_by_role("link", name="Download the whole report").click()
    assert report.value.suggested_filename.endswith(".html")
    look_wide_and_narrow(page, table, name="simulation")

    page.get_by_role("button", name="Ask again, changed").click()
    expect(dialog.get_by_role("spinbutton", name="Jobs")).to_have_value("6")
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("link", name="All simulations").click()
    expect(page.get_by_role("list", name="Simulations")).to_contain_text("completed")


def test_a_time_that_is_looked_at_is_replayed(page: Page) -> None:
    page.goto("/autoscaler")
    page.get_by_role("link", name="Replay with another policy").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("radio", name="as they came")).to_be_checked()
    expect(dialog.get_by_role("spinbutton", name="Days")).to_have_value(
        "0.05"
    )  # an hour, the least
    dialog.get_by_role("button", name="Cancel").click()
    expect(page).to_have_url(re.compile("/simulations$"))  # a reload does not ask again
