"""A real browser for the tests, and the few things they do with it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Playwright,
    StorageState,
    ViewportSize,
)

from tests.end_to_end.waiting import until
from tools.screenshots.camera import BROWSERS

WIDE: Final = ViewportSize(width=1280, height=800)
NARROW: Final = ViewportSize(width=390, height=844)
PATIENCE_MILLISECONDS: Final = 60_000  # a poll of the page, on a busy machine

_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def launch(playwright: Playwright) -> Browser:
    """The machine's Chromium, else Playwright's own; without either the tests are skipped."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        return playwright.chromium.launch(executable_path=found, args=_ARGUMENTS)
    except Error as error:
        if found is not None:
            raise
        pytest.skip(f"no browser: install chromium or run `playwright install` ({error.message})")


def open_context(browser: Browser, url: str, seen_by: StorageState | None = None) -> BrowserContext:
    """Where clicks and loads wait as long as what is expected does, and nothing moves.

    What moves is drawn sixty times a second, which takes a sixth of a core from the tests beside.
    """
    context = browser.new_context(
        base_url=url,
        storage_state=seen_by,
        viewport=WIDE,
        color_scheme="light",
        reduced_motion="reduce",
        timezone_id="UTC",
    )
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    return context


def sign_in(page: Page, username: str, password: str) -> None:
    page.get_by_label("User name").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def expect_no_sideways_scroll(page: Page) -> None:
    """Wait until the page, laid out for its window, is not wider than that."""
    fits = "document.documentElement.scrollWidth <= window.innerWidth"
    until(lambda: page.evaluate(fits), what="the page fits its window")  # its CSP has no `eval`


def keep_screenshot(page: Page, name: str) -> None:
    """Keep what the page looks like where `CONCERTINA_SCREENSHOTS` says, if it does."""
    folder = os.environ.get("CONCERTINA_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
