"""What is an open page sent, without asking for it?"""

from __future__ import annotations

import json
from typing import Final

from playwright.sync_api import Page

from tests.end_to_end.waiting import until

PAUSE: Final = 50  # milliseconds


def events_of(page: Page) -> list[str]:
    """Collect what is sent to it from now on."""
    sent = list[str]()
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")
    wire.on("Network.eventSourceMessageReceived", lambda event: sent.append(event["data"]))
    return sent


def names_of_events(page: Page) -> list[str]:
    """Collect how what is sent to it from now on is called."""
    names = list[str]()
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")
    wire.on("Network.eventSourceMessageReceived", lambda event: names.append(event["eventName"]))
    return names


def wait_for_feed(page: Page, names: list[str], times: int = 1) -> None:
    """Wait until the page has begun to be told of events, so many times."""

    def has_begun() -> bool:
        page.wait_for_timeout(PAUSE)
        return names.count("begin") >= times

    until(has_begun, what="events are told")


def wait_for_reads(page: Page, sent: list[str], paths: set[str]) -> None:
    def have_come() -> bool:
        page.wait_for_timeout(PAUSE)  # lets them come
        return paths <= {json.loads(event).get("read", "").partition("?")[0] for event in sent}

    until(have_come, what=f"{', '.join(sorted(paths))} are sent")


def wait_for_more(page: Page, sent: list[str], count: int = 10) -> None:
    """Wait until so many more events have come."""
    wanted = len(sent) + count

    def have_come() -> bool:
        page.wait_for_timeout(PAUSE)
        return len(sent) >= wanted

    until(have_come, what=f"{count} more events")
