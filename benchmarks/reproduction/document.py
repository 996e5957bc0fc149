"""How do numbers become a page? Sections with tables, pictures, and claims that are judged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from string import Template
from typing import Final

from autoscaler.plots.frame import Picture

TEXTS: Final = Path(__file__).parent / "texts"


class Verdict(StrEnum):
    """Is it so?"""

    HOLDS = "holds"
    IN_PART = "**holds in part**"
    TIE = "no difference"
    FAILS = "**does not hold**"

    @classmethod
    def over(cls, cases: Collection[bool]) -> Verdict:
        """A verdict over something that was said of many cases."""
        if all(cases):
            return cls.HOLDS
        return cls.IN_PART if any(cases) else cls.FAILS

    @classmethod
    def of(cls, *, holds: bool) -> Verdict:
        return cls.HOLDS if holds else cls.FAILS


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that was said to be so, what we measured, and whether it is.

    `why` is told where it does not hold, or not everywhere.
    """

    statement: str
    measured: str
    verdict: Verdict
    why: str = ""


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


def reasons(claims: Iterable[Claim]) -> str:
    """Why claims fail, each reason once."""
    failed = (claim for claim in claims if claim.verdict in {Verdict.FAILS, Verdict.IN_PART})
    found = dict.fromkeys(claim.why for claim in failed if claim.why)
    return "\n".join(f"- *Why not everywhere?* {why}" for why in found)


def filled(name: str, **values: object) -> str:
    """The text of that name with values for its `$words`."""
    text = (TEXTS / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute({key: str(value) for key, value in values.items()})


def paragraphs(*parts: str) -> str:
    return "\n\n".join(part.strip() for part in parts if part)
