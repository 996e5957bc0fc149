"""Does a lead say in the browser who is told of the team's jobs, and see whether that works?"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.accessibility import violations, violations_in_both_themes
from tests.end_to_end.browser import NARROW, expect_no_sideways_scroll, keep_screenshot

pytestmark = pytest.mark.timeout(600)


def test_a_webhook_is_added_tried_changed_and_deleted(page: Page) -> None:
    page.goto("/teams/vision")
    page.get_by_role("link", name="Notifications").click()
    page.get_by_role("button", name="Add a webhook").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("program")
    dialog.get_by_label("Sent as").select_option("json")
    dialog.get_by_label("Address").fill("no address")
    assert violations(page) == []
    keep_screenshot(page, "notifications-adding")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("https://example.com/hook")
    dialog.get_by_label("Address").fill("http://127.0.0.1:9/path-that-is-secret")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_text("shown this once")).to_be_visible()
    dialog.get_by_role("button", name="I have it").click()
    row = page.get_by_role("listitem", name="Webhook program")
    expect(row).to_contain_text(re.compile(r"JSON.*http://127\.0\.0\.1:9/….*A job ends", re.DOTALL))
    assert "path-that-is-secret" not in page.content()

    row.get_by_role("button", name="Test").click()  # nobody is there: what is private is not called
    deliveries = row.get_by_role("list", name="Deliveries of program")
    expect(deliveries).to_contain_text(re.compile("waiting.*Test.*Ask an admin", re.DOTALL))
    expect(row).to_contain_text(re.compile("The last .*failed"))
    page.set_viewport_size(NARROW)
    expect_no_sideways_scroll(page)
    keep_screenshot(page, "notifications-390-light")
    page.set_viewport_size({"width": 1280, "height": 800})

    row.get_by_role("button", name="Change").click()
    dialog.get_by_role("radio", name="Chosen events").check()
    dialog.get_by_role("checkbox", name="Deadline at risk").check()
    assert violations(page) == []
    dialog.get_by_role("button", name="Change").click()
    expect(row).to_contain_text("Deadline at risk")
    row.get_by_role("button", name="Switch off").click()
    expect(row).to_contain_text("switched off")
    expect(row.get_by_role("button", name="Test")).to_be_disabled()
    assert violations_in_both_themes(page, row) == []
    keep_screenshot(page, "notifications-1280-light")

    row.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    expect(page.get_by_text("Nobody is told yet")).to_be_visible()


def test_an_admin_says_who_is_told_of_all_jobs(page: Page) -> None:
    page.goto("/notifications")
    page.get_by_role("button", name="Add a webhook").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("everybody")
    dialog.get_by_label("Sent as").select_option("slack")
    dialog.get_by_label("Address").fill("http://127.0.0.1:9/of-all")
    dialog.get_by_role("radio", name="Only what a job itself asks for").check()
    dialog.get_by_role("button", name="Add", exact=True).click()
    row = page.get_by_role("listitem", name="Webhook everybody")
    expect(row).to_contain_text("Slack")
    page.goto("/teams/vision/notifications")
    expect(page.get_by_text("Nobody is told yet")).to_be_visible()  # it is not the team's
    page.goto("/notifications")
    row.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
