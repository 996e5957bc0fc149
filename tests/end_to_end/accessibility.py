"""Can everybody use a page? Looked at by axe, in both themes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from playwright.sync_api import Locator, Page, expect

from tests.end_to_end.browser import NARROW, expect_no_sideways_scroll, keep_screenshot

_AXE: Final = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
# Colours that are on their way to others are none that anybody reads.
_COLOURS_ARE_THERE: Final = """async () => {
    for (let drawn = 0; drawn < 2; drawn++) await new Promise(requestAnimationFrame);
    const ending = document.getAnimations().filter(
        one => one.effect.getComputedTiming().endTime !== Infinity
    );
    await Promise.allSettled(ending.map(one => one.finished));
}"""

# Only colours differ between the themes.
_RULES_BY_THEME: Final[Mapping[Literal["dark", "light"], Mapping[str, Any]]] = {
    "dark": {"runOnly": ["color-contrast"]},
    "light": {},
}
_WITHIN: Final = """([selector, options]) => axe.run(selector, options).then(
    ({violations}) => violations.map(
        one => one.id + ': ' + one.nodes.map(node => node.html).join(' ')
    )
)"""


def violations(page: Page, *only: str) -> Sequence[str]:
    """Return what axe finds by all its rules, or by these only."""
    _bring_axe(page)
    options: dict[str, object] = {"resultTypes": ["violations"]}
    if only:
        options["runOnly"] = only
    found: list[str] = page.evaluate(
        "options => axe.run(options).then(({violations}) => violations.map("
        "one => one.id + ': ' + one.nodes.map(node => node.html).join(' ')))",
        options,
    )
    return found


def _bring_axe(page: Page) -> None:
    if not page.evaluate("'axe' in window"):  # it is large, and stays until the next page
        page.evaluate(_AXE.read_text())


def violations_in_both_themes(page: Page, shown: Locator) -> Sequence[str]:
    """Return those of the page while this is shown; it is light again afterwards.

    Only colours differ between the themes, so they alone are looked at in both.
    """
    page.emulate_media(color_scheme="dark")
    expect(shown).to_be_visible()
    page.evaluate(_COLOURS_ARE_THERE)
    dark = violations(page, "color-contrast")
    page.emulate_media(color_scheme="light")
    page.evaluate(_COLOURS_ARE_THERE)
    return [f"dark: {one}" for one in dark] + [f"light: {one}" for one in violations(page)]


def violations_within(page: Page, selector: str) -> Sequence[str]:
    """Return those of what is open on a page, in both themes, which is light again afterwards."""
    _bring_axe(page)
    found = list[str]()
    for theme, rules in _RULES_BY_THEME.items():
        page.emulate_media(color_scheme=theme)
        page.evaluate(_COLOURS_ARE_THERE)
        options = {"resultTypes": ["violations"], **rules}
        found += (f"{theme}: {one}" for one in page.evaluate(_WITHIN, [selector, options]))
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
