"""Does somebody who signs in stay signed in, whatever is answered late?"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.end_to_end.browser import open_context, sign_in
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(600)


def test_what_was_asked_as_a_visitor_ends_no_session(stack: RunningStack, browser: Browser) -> None:
    context = open_context(browser, stack.url)
    page = context.new_page()
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if route.request.method == "GET" and not held:
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/v1/session", hold_the_first)
    page.goto("/login")
    sign_in(page, stack.admin_username, stack.admin_password)
    overview = page.get_by_role("heading", name="Overview")
    expect(overview).to_be_visible()
    with page.expect_response(lambda answer: answer.request == held[0].request):
        held[0].fulfill(status=401, json={"error": {"code": "not_authenticated"}})
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Jobs").click()
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
    context.close()
