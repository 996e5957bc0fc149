"""A browser that keeps what pages look like, in every size and theme."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import (
    Browser,
    BrowserContext,
    FloatRect,
    Playwright,
    StorageState,
    ViewportSize,
    expect,
    sync_playwright,
)

from tools.screenshots.pages import ShownPage

# The shell has no windows, and takes a fifth of the processor time.
BROWSERS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_TALLEST: Final = 20_000  # pixels
_PATIENCE: Final = 30_000  # milliseconds
_SETTLED_MILLISECONDS: Final = 1000  # in which charts are drawn

_TELEPHONE: Final = ViewportSize(width=390, height=844)
_LAPTOP: Final = ViewportSize(width=1280, height=800)
_SCREEN: Final = ViewportSize(width=1920, height=1080)
_THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Film:
    """In which size and in which theme a page is shown."""

    size: ViewportSize
    theme: Literal["light", "dark"]

    @property
    def name(self) -> str:
        return f"{self.size['width']}-{self.theme}"


PLAIN: Final = Film(_LAPTOP, "light")
EVERY_FILM: Final = tuple(
    Film(size, theme) for size in (_TELEPHONE, _LAPTOP, _SCREEN) for theme in _THEMES
)


def take(
    url: str,
    login: tuple[str, str],
    pages: Sequence[ShownPage],
    films: Sequence[Film],
    folder: Path,
    *,
    most: int = _TALLEST,
) -> Iterator[Path]:
    """Keep each page in each film below the folder, cut at so many pixels; return each picture."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, _browser(playwright) as browser:
        state = _signed_in(browser, url, login)
        for film in films:
            context = _context(browser, url, film, state)
            page = context.new_page()
            for shown in pages:
                page.goto(shown.path)
                page.get_by_role("heading").first.wait_for()
                page.wait_for_timeout(_SETTLED_MILLISECONDS)
                expect(page.locator("[data-loading]")).to_have_count(0, timeout=_PATIENCE)
                page.wait_for_timeout(_SETTLED_MILLISECONDS)
                name = shown.name if len(films) == 1 else f"{shown.name}-{film.name}"
                picture = folder / f"{name}.png"
                height = page.evaluate("document.documentElement.scrollHeight")
                width = film.size["width"]
                shape = FloatRect(x=0, y=0, width=width, height=min(height, most))
                page.screenshot(path=picture, full_page=True, clip=shape)
                yield picture
            context.close()


@contextmanager
def _browser(playwright: Playwright) -> Iterator[Browser]:
    """Return the machine's Chromium, else Playwright's own."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
    try:
        yield browser
    finally:
        browser.close()


def _context(
    browser: Browser, url: str, film: Film, state: StorageState | None = None
) -> BrowserContext:
    return browser.new_context(
        base_url=url,
        storage_state=state,
        viewport=film.size,
        color_scheme=film.theme,
        reduced_motion="reduce",
    )


def _signed_in(browser: Browser, url: str, login: tuple[str, str]) -> StorageState:
    context = _context(browser, url, PLAIN)
    page = context.new_page()
    page.goto("/login")
    page.get_by_label("User name").fill(login[0])
    page.get_by_label("Password").fill(login[1])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("heading", name="Overview").wait_for()
    state = context.storage_state()
    context.close()
    return state
