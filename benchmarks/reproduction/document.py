"""How do numbers become a page? Sections with tables, pictures, and claims that are judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Final

from autoscaler.plots.frame import Picture

TEXTS: Final = Path(__file__).parent / "texts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that was said to be so, what we measured, and whether it is."""

    statement: str
    measured: str
    holds: bool

    @property
    def verdict(self) -> str:
        return "holds" if self.holds else "**does not hold**"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One experiment's part of the page. Pictures are referred to by name in the text."""

    title: str
    text: str
    claims: tuple[Claim, ...]
    pictures: Mapping[str, Picture] = field(default_factory=dict)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    rule = ["---", *["---:"] * (len(heads) - 1)]
    lines = (heads, rule, *rows)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def picture(name: str, alternative: str) -> str:
    return f"![{alternative}](images/reproduction/{name}.svg)"


def claims_table(claims: Iterable[Claim]) -> str:
    rows = ((claim.statement, claim.measured, claim.verdict) for claim in claims)
    return table(("what was claimed or expected", "measured", "verdict"), rows).replace(
        "---:", "---"
    )


def filled(name: str, **values: object) -> str:
    """The text of that name with values for its `$words`."""
    text = (TEXTS / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute({key: str(value) for key, value in values.items()})


def paragraphs(*parts: str) -> str:
    return "\n\n".join(part.strip() for part in parts if part)
