"""Does somebody with an account at the provider get in, to the page that they wanted?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.end_to_end.accessibility import violations_in_both_themes
from tests.end_to_end.browser import keep_screenshot, open_context
from tests.end_to_end.running_stack import RunningStack
from tests.identity_provider import RunningProvider

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def visitor(stack: RunningStack, browser: Browser) -> Iterator[Page]:
    """Somebody whom nobody knows yet."""
    context = open_context(browser, stack.url)
    yield context.new_page()
    context.close()


def test_a_person_of_the_provider_gets_to_the_page_that_they_wanted_or_is_told_why_not(
    visitor: Page, stack: RunningStack, provider: RunningProvider
) -> None:
    person = {"preferred_username": "grace", "groups": []}
    callback = f"{stack.url}/sign-in/provider/callback"
    provider.has({"sub-grace": person}, redirects=[callback])
    visitor.goto("/jobs?state=running")
    button = visitor.get_by_role("link", name="Sign in with Example Lab")
    assert violations_in_both_themes(visitor, button) == []
    keep_screenshot(visitor, "sign-in-by-provider")
    button.click()
    visitor.get_by_label("Who are you?").fill("sub-grace")
    visitor.get_by_role("button", name="Continue").click()
    expect(visitor.get_by_role("alert")).to_contain_text("None of your groups at Example Lab")
    keep_screenshot(visitor, "sign-in-refused")

    provider.has({"sub-grace": {**person, "groups": ["ml"]}})
    button.click()  # she is still signed in over there
    expect(visitor.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
    assert visitor.url == f"{stack.url}/jobs?state=running"
    visitor.goto("/teams/vision/people")
    row = visitor.get_by_role("listitem", name="grace, member")
    expect(row).to_contain_text("by a group of the identity provider")
