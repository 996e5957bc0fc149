"""Does a lead's link bring somebody into the team who has no account yet?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.end_to_end.accessibility import violations_in_both_themes
from tests.end_to_end.browser import keep_screenshot, open_context
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def visitor(stack: RunningStack, browser: Browser) -> Iterator[Page]:
    """Somebody whom nobody knows yet."""
    context = open_context(browser, stack.url)
    yield context.new_page()
    context.close()


def test_a_link_brings_somebody_in_once(page: Page, visitor: Page, stack: RunningStack) -> None:
    page.goto("/teams/language/people")
    page.get_by_role("button", name="Invite somebody").click()
    page.get_by_role("dialog").get_by_role("button", name="Make a link").click()
    shown = page.get_by_role("dialog").locator("code")
    expect(shown).to_contain_text("/invitation#ci_")
    link = shown.inner_text()
    keep_screenshot(page, "invitation-made")
    page.keyboard.press("Escape")
    expect(page.get_by_role("list", name="Open invitations").get_by_role("listitem")).to_have_count(
        1
    )

    visitor.goto(link)
    title = visitor.get_by_role("heading", name="Join language")
    expect(title).to_be_visible()
    assert violations_in_both_themes(visitor, title) == []
    keep_screenshot(visitor, "invitation-page")
    visitor.get_by_label("User name").fill("hedy")
    visitor.get_by_label("New password").fill("correct horse battery")
    visitor.get_by_role("button", name="Make an account and join").click()
    visitor.get_by_role("link", name="See the team").click()
    visitor.wait_for_url(f"{stack.url}/teams/language**")
    visitor.goto("/teams/language/people")
    expect(visitor.get_by_role("listitem", name="hedy, member")).to_be_visible()

    visitor.goto(link)
    expect(visitor.get_by_role("alert")).to_contain_text("used, revoked, or has expired")
