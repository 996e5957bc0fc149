"""Does a lead find in the browser who changed what, and who was refused?"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.accessibility import look_wide_and_narrow, violations_in_both_themes
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(600)


def test_who_changed_what_is_found_and_taken_along(
    page: Page, stack: RunningStack, tmp_path: Path
) -> None:
    with stack.client("vision") as client:
        spec = {"name": "looked-into", "command": ["python", "none.py"]}
        job = client.post("/api/v1/jobs", json=spec).json()["id"]
        assert client.patch(f"/api/v1/jobs/{job}", json={"priority": 7}).status_code == 200
        assert client.get("/api/v1/teams/vision/tokens").status_code == 403
        client.post(f"/api/v1/jobs/{job}/cancel", json={})
    page.goto("/")
    page.get_by_role("button", name="More").click()
    page.get_by_role("link", name="Audit log").click()
    expect(page.get_by_role("link", name="Audit log")).to_have_count(0)  # the menu has closed
    page.get_by_label("What it was about").fill(f"jobs/{job}")
    entries = page.get_by_role("list", name="Entries of the audit log")
    changed = entries.locator("> li").filter(has_text="Change job")
    expect(entries.locator("> li")).to_have_count(3)  # what was typed counts by now
    expect(changed).to_contain_text(re.compile("priority 50 .*7"))
    assert violations_in_both_themes(page, changed) == []  # and a reload keeps what was asked for

    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    download.value.save_as(tmp_path / "audit.csv")
    with (tmp_path / "audit.csv").open() as table:
        rows = [*csv.DictReader(table)]
    assert [row["operation"] for row in rows] == ["cancel_job", "change_job", "submit_job"]

    changed.get_by_role("link", name=f"jobs/{job}").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("looked-into")
    page.go_back()
    page.get_by_role("button", name="Clear all").click()
    page.get_by_label("Outcome").select_option("refused")
    expect(entries.locator("> li").filter(has_text="List tokens").first).to_contain_text("403")
    look_wide_and_narrow(page, entries, name="audit")
