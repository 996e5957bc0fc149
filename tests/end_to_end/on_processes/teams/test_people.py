"""Do leads say in the browser who is in their team, and which keys its programs have?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import psycopg2
import pytest
from local_stack.processes import embedded_postgres
from playwright.sync_api import Locator, Page, Route, expect

from tests.end_to_end.accessibility import violations
from tests.end_to_end.browser import keep_screenshot
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(600)

MINUTE = 60_000  # milliseconds
_GONE = """
    DELETE FROM tenancy_membership
    WHERE user_id IN (SELECT id FROM auth_user WHERE username = 'ada');
    DELETE FROM auth_user WHERE username = 'ada'
"""
_ACCOUNT_OF_ADA = """
    INSERT INTO auth_user (
        username, password, is_active, is_staff, is_superuser, first_name, last_name, email,
        date_joined
    )
    VALUES ('ada', '!', true, false, false, '', '', '', now()) ON CONFLICT DO NOTHING
"""


@pytest.fixture(scope="module")
def ada(stack: RunningStack) -> Iterator[str]:
    """Somebody who has an account, and no role yet."""
    address = embedded_postgres.url(stack.checkout.runtime_dir)
    with psycopg2.connect(address) as database, database.cursor() as cursor:
        cursor.execute(_ACCOUNT_OF_ADA)
    yield "ada"
    with psycopg2.connect(address) as database, database.cursor() as cursor:
        cursor.execute(_GONE)


def test_a_lead_adds_changes_and_removes_people(page: Page, ada: str) -> None:
    page.goto("/teams/vision")
    page.get_by_role("link", name="People and tokens").click()
    page.get_by_role("button", name="Add somebody").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("User name").fill("nobody-of-that-name")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("account")
    dialog.get_by_label("User name").fill(ada)
    page.keyboard.press("Enter")
    expect(person(page, ada, "member")).to_be_visible()

    change = page.get_by_role("button", name=f"Change the role of {ada}")
    change.focus()
    page.keyboard.press("Enter")
    dialog.get_by_role("radio", name="lead").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(person(page, ada, "lead")).to_be_visible()
    expect(change).to_be_focused()
    keep_screenshot(page, "team-people")

    page.get_by_role("button", name=f"Remove {ada}").click()
    dialog.get_by_role("button", name="Keep as it is").click()
    expect(person(page, ada, "lead")).to_be_visible()
    page.get_by_role("button", name=f"Remove {ada}").click()
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_role("listitem", name=re.compile(f"^{ada}, "))).to_have_count(0)


def person(page: Page, name: str, role: str) -> Locator:
    return page.get_by_role("listitem", name=f"{name}, {role}", exact=True)


def test_a_token_is_made_shown_once_rotated_and_revoked(page: Page, stack: RunningStack) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/teams/vision/people")
    page.get_by_role("button", name="New token").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill("nightly")
    dialog.get_by_label("Only jobs with labels").fill("project=digits")
    assert violations(page) == []
    keep_screenshot(page, "team-new-token")
    dialog.get_by_label("Expires after").select_option("30")
    dialog.get_by_role("button", name="Make token").click()
    dialog.get_by_role("button", name="Copy").click()
    expect(dialog.get_by_text("Copied", exact=True)).to_be_visible()
    key = str(page.evaluate("navigator.clipboard.readText()"))
    headers = {"Authorization": f"Bearer {key}"}
    with stack.client("vision") as client:
        assert client.get("/api/v1/jobs?limit=1", headers=headers).status_code == 200
        assert client.get("/api/v1/teams/vision/tokens", headers=headers).status_code == 403
    dialog.get_by_role("button", name="I have it").click()
    expect(dialog).to_be_hidden()
    assert key not in page.content()
    token = page.get_by_role("listitem", name=f"Token nightly, {key[:10]}")
    expect(token).to_contain_text(
        re.compile("submit.*only project=digits.*expires in 29 d", re.DOTALL)
    )

    token.get_by_role("button", name="Rotate").click()
    dialog.get_by_label("The former key").select_option("1")
    dialog.get_by_role("button", name="Make another key").click()
    dialog.get_by_role("button", name="I have it").click()
    tokens = page.get_by_role("list", name="Tokens", exact=True).get_by_role("listitem")
    expect(tokens.filter(has_text="nightly")).to_have_count(2)
    expect(token).to_contain_text(re.compile(r"expires in 5\d min"))
    keep_screenshot(page, "team-tokens")

    for left in (1, 0):
        tokens.filter(has_text="nightly").first.get_by_role("button", name="Revoke").click()
        dialog.get_by_role("button", name="Revoke", exact=True).click()
        expect(tokens.filter(has_text="nightly")).to_have_count(left)
    with stack.client("vision") as client:
        assert client.get("/api/v1/jobs?limit=1", headers=headers).status_code == 401


def test_somebody_makes_a_token_of_their_own_and_revokes_it(
    page: Page, stack: RunningStack
) -> None:
    page.goto("/")
    page.get_by_role("link", name=stack.admin_username, exact=True).click()
    expect(page.get_by_text("concertina login http")).to_be_visible()
    page.get_by_role("button", name="New token").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill("laptop")
    dialog.get_by_role("checkbox", name="admin").check()
    assert violations(page) == []
    keep_screenshot(page, "account-new-token")
    dialog.get_by_role("button", name="Make token").click()
    key = dialog.get_by_text(re.compile("^cp_")).inner_text()
    dialog.get_by_role("button", name="I have it").click()
    token = page.get_by_role("listitem", name=f"Token laptop, {key[:10]}")
    expect(token).to_contain_text("admin")
    assert violations(page) == []
    keep_screenshot(page, "account")

    headers = {"Authorization": f"Bearer {key}"}
    with stack.client("vision") as client:
        session = client.get("/api/v1/session", headers=headers).json()
        assert session["user"]["username"] == stack.admin_username
        token.get_by_role("button", name="Revoke").click()
        dialog.get_by_role("button", name="Revoke", exact=True).click()
        expect(token).to_have_count(0)
        assert client.get("/api/v1/session", headers=headers).status_code == 401


def test_a_command_line_is_let_in_or_refused_by_its_code(stack: RunningStack, page: Page) -> None:
    """What it asks is seen first; a code that is nobody's is told."""

    def ask(verb: str, **said: Any) -> Any:
        with stack.client_of(None) as visitor:
            answer = visitor.post(f"/api/v1/device-logins{verb}", json=said)
        assert answer.is_success, answer.text
        return answer.json()

    def answer(started: Any, button: str) -> None:
        page.goto("/device")
        page.get_by_role("textbox", name="Code").fill(started["user_code"])
        page.get_by_role("button", name="Continue").click()
        granted = page.get_by_role("list", name="What it may do").get_by_role("listitem")
        expect(granted).to_have_text(re.compile("^read"))
        expect(page.get_by_text("for-a-browser, from")).to_be_visible()
        assert violations(page) == []
        keep_screenshot(page, "device")
        page.get_by_role("button", name=button).click()
        expect(
            page.get_by_role("status").filter(has_text=re.compile("token|granted"))
        ).to_be_visible()
        code = {"device_code": started["device_code"]}
        states.append(ask(":poll", **code)["state"])
        if states[-1] == "confirmed":
            made = ask(":redeem", **code)
            with stack.client_of(made["key"]) as granted_to:
                session = granted_to.get("/api/v1/session").json()
                assert session["user"]["username"] == stack.admin_username
                gone = granted_to.delete(f"/api/v1/personal-tokens/{made['id']}")
                assert gone.status_code == 204, gone.text

    states: list[str] = []
    page.goto("/device")
    page.get_by_role("textbox", name="Code").fill("BBBB-BBBB")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_contain_text("No command line waits")
    assert violations(page) == []
    for button in ("Let it in", "Refuse"):
        answer(ask("", name="for-a-browser", scopes=["read"], days=1), button)
    assert states == ["confirmed", "refused"]


def test_who_may_change_nothing_is_offered_nothing_and_told_whom_to_ask(page: Page) -> None:
    def answer_a_viewer(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "may_change": False, "may": ["see"]})

    page.route("**/api/v1/teams/vision/members", answer_a_viewer)
    page.goto("/teams/vision/people")
    table = page.get_by_role("table", name="What each role may do in the team")
    expect(table.get_by_role("row").filter(has_text="submit jobs")).to_have_text(
        re.compile("no.*yes.*yes.*no$", re.DOTALL)
    )
    expect(page.get_by_text("Only leads see and make tokens")).to_be_visible()
    expect(page.get_by_text("Ask an admin.").first).to_be_visible()
    main = page.get_by_role("main")
    expect(main.get_by_role("button")).to_have_count(0)


def test_its_people_are_asked_for_once_a_minute(page: Page) -> None:
    """Its clock is put forward; of the rest of the page, it is sent what changes."""
    asked = Counter[str]()
    page.clock.install()
    page.goto("/teams/vision/people")
    parts = {f"/api/v1/teams/vision{part}" for part in ("", "/members", "/invitations", "/tokens")}
    page.on("request", lambda request: asked.update([urlsplit(request.url).path]))
    expect(page.get_by_role("button", name="New token")).to_be_enabled()
    asked.clear()
    page.clock.run_for(MINUTE)
    while parts - asked.keys():
        page.wait_for_timeout(50)
    assert {path: count for path, count in asked.items() if "/vision" in path} == dict.fromkeys(
        parts, 1
    )
