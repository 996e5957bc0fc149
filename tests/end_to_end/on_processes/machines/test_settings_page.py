"""Does the page of settings say how the installation is set up, and change a password?"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.end_to_end.accessibility import look_wide_and_narrow, violations_in_both_themes
from tests.end_to_end.browser import open_context, sign_in
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(600)

OLD, NEW = "correct horse battery", "another long password"


@pytest.fixture
def hopper(page: Page, stack: RunningStack) -> str:
    """Somebody with an account and a password of their own."""
    page.goto("/")
    made = page.evaluate(
        """token => fetch("/api/v1/teams/vision/invitations", {
            method: "POST",
            headers: {"Content-Type": "application/json", "X-CSRFToken": token},
            body: JSON.stringify({role: "member"}),
        }).then(answer => answer.json())""",
        next(
            one["value"]
            for one in page.context.cookies()
            if one["name"] == "csrftoken"  # type: ignore[typeddict-item]  # each has both
        ),
    )
    joining = {"key": made["link"].rpartition("#")[2], "username": "hopper", "password": OLD}
    with stack.client_of(None) as visitor:
        answer = visitor.post("/api/v1/invitations:join", json=joining)
    assert answer.status_code == 201, answer.text
    return "hopper"


def test_an_admin_reads_how_the_installation_is_set_up(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="More").click()
    page.get_by_role("link", name="Settings").click()
    title = page.get_by_role("heading", name="Settings", exact=True)
    expect(title).to_be_visible()
    row = page.get_by_role("row", name=re.compile("time between two looks of the planner"))
    expect(row).to_contain_text("1 s")
    expect(row).to_contain_text("CONCERTINA_TICK_SECONDS")
    page.get_by_role("radio", name="Dark").check(force=True)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("radio", name="As the system").check(force=True)
    assert violations_in_both_themes(page, row) == []
    look_wide_and_narrow(page, row, name="settings")


def test_a_new_password_signs_other_browsers_out_and_lets_one_in(
    stack: RunningStack, browser: Browser, hopper: str
) -> None:
    contexts = [open_context(browser, stack.url) for _ in range(2)]
    try:
        mine, other = (context.new_page() for context in contexts)
        for page in (mine, other):
            page.goto("/login")
            sign_in(page, hopper, OLD)
            expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        mine.goto("/settings")
        form = mine.get_by_role("form", name="Change your password")
        expect(mine.get_by_role("heading", name="This installation")).to_have_count(0)
        change = form.get_by_role("button", name="Change password")
        form.get_by_label("Your password").fill(OLD)
        form.get_by_label("New password", exact=False).first.fill(NEW)
        form.get_by_label("New password again").fill("something else")
        change.click()
        expect(form.get_by_role("alert")).to_contain_text("twice")
        form.get_by_label("New password again").fill(NEW)
        change.click()
        expect(form.get_by_role("status")).to_have_text("Your password is changed.")
        mine.reload()
        expect(form).to_be_visible()
        other.goto("/settings")
        expect(other.get_by_label("User name")).to_be_visible()
        sign_in(other, hopper, NEW)
        expect(other.get_by_role("form", name="Change your password")).to_be_visible()
    finally:
        for context in contexts:
            context.close()
