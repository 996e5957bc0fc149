"""In which colours are charts drawn? Those of the dashboard, for a light and for a dark page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# The dashboard's design tokens; see frontend/src/design/tokens.css.
TOKENS: Final[Mapping[str, tuple[str, str]]] = {
    "page": ("#f5f5f3", "#0e1014"),
    "surface": ("#ffffff", "#16191f"),
    "sunken": ("#f0f0ed", "#101318"),
    "border": ("#e4e4df", "#272c35"),
    "border-strong": ("#cfcfc8", "#3a414d"),
    "text": ("#16181d", "#eceef2"),
    "text-muted": ("#5d626c", "#9ba3b0"),
    "text-faint": ("#6c717b", "#858d9a"),
    "grid": ("#ecece8", "#22262e"),
    "accent": ("#4f46c8", "#a8a2ff"),
    "on-accent": ("#ffffff", "#12112b"),
    "good": ("#157347", "#4cc38a"),
    "good-soft": ("#e3f4ea", "#12291f"),
    "series-0": ("#4f46c8", "#a8a2ff"),
    "series-1": ("#0f8a7e", "#35c4b3"),
    "series-2": ("#dd7a0b", "#f5a742"),
    "series-3": ("#b9388a", "#ee7fbe"),
    "series-4": ("#2d6cdf", "#6ba4ff"),
    "series-5": ("#8a7d05", "#d6c84a"),
    "series-6": ("#2493bd", "#74cdf0"),
    "series-7": ("#a8432d", "#ea8d72"),
}
SERIES: Final = sum(name.startswith("series-") for name in TOKENS)
FONT: Final = (
    'Inter, "SF Pro Text", "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial,'
    " sans-serif"
)
# What the elements of a chart look like; the page around it defines the tokens.
CHART_STYLE: Final = f"""
.chart text {{ font: 12px {FONT}; font-variant-numeric: tabular-nums; fill: var(--text-muted); }}
.chart .title {{ font-size: 14px; font-weight: 620; fill: var(--text); }}
.chart .small {{ font-size: 10px; }}
.chart .legend, .chart .name {{ fill: var(--text); }}
.chart .grid {{ stroke: var(--grid); }}
.chart .base {{ stroke: var(--border-strong); }}
.chart .limit {{ stroke: var(--text-faint); stroke-dasharray: 4 4; }}
.chart .line {{ fill: none; stroke-width: 1.8; stroke-linejoin: round; }}
.chart .dashed {{ stroke-dasharray: 5 4; }}
.chart .track {{ fill: var(--sunken); }}
"""


def colour(slot: int) -> str:
    """The CSS colour of a series; beyond the last one they begin anew, drawn dashed."""
    return f"var(--series-{slot % SERIES})"


def tokens_style() -> str:
    """The tokens as CSS variables: the reader's theme, unless the page sets `data-theme`."""
    light = _variables(0)
    dark = _variables(1)
    return (
        f':root{{color-scheme:light dark;{light}}}[data-theme="dark"]{{{dark}}}'
        f'@media(prefers-color-scheme:dark){{:root:not([data-theme="light"]){{{dark}}}}}'
    )


def _variables(theme: int) -> str:
    return "".join(f"--{name}:{colours[theme]};" for name, colours in TOKENS.items())
