"""How much of a campaign does this run go through? All of it with `--thorough`, else a sample.

A campaign tries one thing over and over: with random examples, seeds, deaths, races. Its sample is
the same on every run. Modules ask while they are imported, which is after pytest knows its options.
"""

from __future__ import annotations

from typing import Final

import hypothesis
import pytest

SHARE: Final = 5  # a sample is one of so many; guessed: what still finds most mutations
FEWEST_EXAMPLES: Final = 15
DEFAULT_EXAMPLES: Final = 100  # Hypothesis' own, of tests that name no number

_run = {"is thorough": False}


def go_through_all() -> None:
    """From now on, campaigns are whole."""
    _run["is thorough"] = True


def are_whole() -> bool:
    """Whether there are no samples; for a campaign whose sample is not just fewer of the same."""
    return _run["is thorough"]


def is_thorough(item: pytest.Item) -> bool:
    """True for a test that is part of whole campaigns only."""
    return item.get_closest_marker("thorough") is not None


def rounds(whole: int) -> int:
    """So many of a campaign of so many."""
    return whole if are_whole() else max(1, whole // SHARE)


def number_of_examples(whole: int = DEFAULT_EXAMPLES) -> int:
    """The same for Hypothesis, which finds little among very few."""
    return max(rounds(whole), min(whole, FEWEST_EXAMPLES))


def examples(whole: int) -> hypothesis.settings:
    """Of a test with so many."""
    return hypothesis.settings(max_examples=number_of_examples(whole))
