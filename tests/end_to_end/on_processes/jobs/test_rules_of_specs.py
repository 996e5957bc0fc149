"""Are a team's rules and templates seen and changed in the browser, and offered to new jobs?"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.accessibility import violations_in_both_themes
from tests.end_to_end.browser import NARROW, expect_no_sideways_scroll, keep_screenshot
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(600)
TEAM = "/api/v1/teams/vision"


def test_rules_and_templates_are_set_and_a_new_job_is_held_to_them(
    page: Page, stack: RunningStack
) -> None:
    page.goto("/teams/vision/setup")
    rules = page.get_by_role("region", name="Rules of specs")
    rules.get_by_role("button", name="Change rules").click()
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_label("Rules as YAML")
    field.fill("bounds: {priority: {most: 60}\n")
    expect(dialog.get_by_role("status")).to_contain_text("Line")
    field.fill("bounds: {prio: {most: 60}}\n")
    dialog.get_by_role("button", name="Set rules").click()
    expect(dialog.get_by_role("alert")).to_contain_text("is not a field that has bounds")
    field.fill("bounds: {priority: {most: 60}}\nlabels: {stage: {values: [dev, prod]}}\n")
    keep_screenshot(page, "rules-form")
    dialog.get_by_role("button", name="Set rules").click()
    table = rules.get_by_role("table", name="Rules of specs")
    expect(table).to_contain_text("at most 60")
    expect(table).to_contain_text("one of dev, prod")

    templates = page.get_by_role("region", name="Templates")
    templates.get_by_role("button", name="New template").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("large")
    dialog.get_by_label("Description").fill("For runs over night.")
    dialog.get_by_label("Part of a spec as YAML").fill("labels: {stage: dev}\npriority: 55\n")
    dialog.get_by_role("button", name="Keep template").click()
    row = page.get_by_role("listitem", name="Template large")
    expect(row).to_contain_text("For runs over night.")
    expect(row).to_contain_text("Version 1")
    assert violations_in_both_themes(page, row) == []
    keep_screenshot(page, "team-rules")
    page.set_viewport_size(NARROW)
    expect_no_sideways_scroll(page)
    keep_screenshot(page, "team-rules-narrow")
    page.set_viewport_size({"width": 1280, "height": 900})

    page.goto("/submit")
    text = page.get_by_label("Spec as YAML")
    text.fill("name: ruled\nteam: vision\ncommand: [sleep, '600']\npriority: 70\n")
    told = page.get_by_role("region", name="What would become of it")
    expect(told).to_contain_text("the rule bounds.priority.most of team vision")
    expect(told).to_contain_text("labels.stage")
    text.fill("name: ruled\nteam: vision\ncommand: [sleep, '600']\n")
    page.get_by_label("template", exact=True).select_option("large")
    expect(text).to_have_value(re.compile("template: large"))
    expect(told).not_to_contain_text("rule")

    page.goto("/teams/vision/setup")
    row.get_by_role("button", name="Delete large").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete template").click()
    expect(row).to_be_hidden()
    rules.get_by_role("button", name="Change rules").click()
    page.get_by_role("dialog").get_by_label("Rules as YAML").fill("")
    page.get_by_role("dialog").get_by_role("button", name="Set rules").click()
    expect(rules).to_contain_text("No rules")
