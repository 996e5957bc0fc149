"""Can everybody use every page, and whatever opens on it? Looked at by axe, in both themes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pytest
from playwright.sync_api import ElementHandle, Error, Page, expect

from tests.end_to_end.accessibility import violations_in_both_themes, violations_within
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.waiting import job_of, until

pytestmark = pytest.mark.timeout(600)

LOOKED_AT: Final = (  # those whose own tests look at what opens only
    *("/", "/account", "/device", "/sweeps", "/teams/vision", "/teams/vision/people"),
    *("/teams/vision/notifications", "/teams/vision/setup"),
)
OPENED_ON: Final = (
    *("/jobs", "/cluster", "/autoscaler", "/quotas", "/simulations", "/audit", "/notifications"),
    *("/settings", "/submit", "/compare", "/teams/vision/usage"),
)
_BUTTONS: Final = "main button:not([aria-pressed]):not([role]), header button:not([role])"
_OPENED: Final = "dialog[open], [aria-expanded=true] + [role=group]"
_ENDS_THE_VISIT: Final = "Sign out"
# In the page itself: a route would bring every read here, and back.
_REFUSE_CHANGES: Final = """
    const ask = window.fetch;
    const said = {code: "only_looking", message: "Nothing is changed.", details: []};
    window.fetch = async (...asked) =>
        new Request(...asked).method === "GET" ? ask(...asked) : Response.json(said, {status: 409});
"""


def test_neither_a_page_nor_what_opens_on_it_keeps_anybody_out(
    page: Page, stack: RunningStack
) -> None:
    """Nothing is changed: what a button would send stays here."""
    found, tried = dict[str, Sequence[str]](), set[str]()
    jobs = made(stack)
    page.add_init_script(_REFUSE_CHANGES)
    looked_at = (*LOOKED_AT, *(f"/jobs/{job}" for job in jobs))
    for address in (*looked_at, *OPENED_ON):
        page.goto(address)
        expect(page.locator("main h1, main h2").first).to_be_visible()
        expect(page.locator("main [role=status][aria-label^=Loading]")).to_have_count(0)
        if address in looked_at:
            found[address] = violations_in_both_themes(page, page.locator("main"))
        for name in every_opener(page, tried):
            found[f"{address}: {name}"] = violations_within(page, _OPENED)
            page.keyboard.press("Escape")
            expect(page.locator(_OPENED)).to_have_count(0)
    assert {where: problems for where, problems in found.items() if problems} == {}
    opened = {where.partition(": ")[2] for where in found}
    assert {"More", "Columns", "Cancel job", "New token"} <= opened, sorted(opened)


def made(stack: RunningStack) -> Sequence[str]:
    """A job that waits for a person, and one that ended."""
    elastic = {"min_workers": 4, "max_workers": 4}
    ids = list[str]()
    with stack.client("vision") as client:
        for verb, state in {"pause": "paused", "cancel": "cancelled"}.items():
            spec = {"name": f"looked-at-{verb}", "command": ["sleep", "600"], "elastic": elastic}
            answer = client.post("/api/v1/jobs", json=spec)
            assert answer.status_code == 201, answer.text
            job = answer.json()["id"]
            client.post(f"/api/v1/jobs/{job}/{verb}", json={}).raise_for_status()
            until(lambda job=job, state=state: job_of(client, job)["state"] == state, what=state)
            ids.append(job)
    return ids


def every_opener(page: Page, tried: set[str]) -> Iterator[str]:
    """Press each button that no page had before; yield the words of those that opened something."""
    for button in page.query_selector_all(_BUTTONS):
        name = words_of(button)
        if not name or name in tried or name == _ENDS_THE_VISIT:
            continue
        tried.add(name)
        before = page.url
        try:
            button.dispatch_event("click")  # also where it shows only to who points at it
        except Error:
            continue  # it has gone meanwhile
        if page.url != before:
            page.goto(before)
            return
        if page.locator(_OPENED).count():
            yield name


def words_of(button: ElementHandle) -> str:
    """Return what stands on it; of one without words, what it is called."""
    if not (button.is_visible() and button.is_enabled()):
        return ""
    return button.inner_text().strip() or button.get_attribute("aria-label") or ""
