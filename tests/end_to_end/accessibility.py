"""Can everybody use a page? Looked at by axe, in both themes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Locator, Page, expect

from tests.end_to_end.browser import NARROW, expect_no_sideways_scroll, keep_screenshot

_AXE: Final = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"


def violations(page: Page) -> Sequence[str]:
    page.evaluate(_AXE.read_text())
    found: list[str] = page.evaluate(
        "axe.run({resultTypes: ['violations']}).then(({violations}) => violations.map("
        "one => one.id + ': ' + one.nodes.map(node => node.html).join(' ')))"
    )
    return found


def violations_in_both_themes(page: Page, shown: Locator) -> Sequence[str]:
    """Return those of the page while this is shown; it is light again afterwards."""
    found: list[str] = []
    schemes: list[Literal["dark", "light"]] = ["dark", "light"]
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        page.reload()  # colours that are on their way to others are none that anybody reads
        expect(shown).to_be_visible()
        found += [f"{scheme}: {one}" for one in violations(page)]
    return found


def look_wide_and_narrow(page: Page, shown: Locator, *, name: str) -> None:
    """Keep how the page looks in three sizes, light and dark, and see that it fits a telephone."""
    expect(shown).to_be_visible()
    keep_screenshot(page, f"{name}-1280-light")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.reload()
    expect(shown).to_be_visible()
    keep_screenshot(page, f"{name}-1920-dark")
    page.set_viewport_size(NARROW)
    expect_no_sideways_scroll(page)
    assert violations(page) == []
    expect(shown).to_be_visible()
    keep_screenshot(page, f"{name}-390-dark")
