"""Which numbers of a job's log are its metrics? Patterns find them, in linear time.

Patterns are RE2's: without backtracking, so that none takes longer than the line is long. Errors
read `what is wrong | what to do`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Final

import re2
from pydantic import AfterValidator, Field, StringConstraints

from jobs.spec.names import check_text
from jobs.spec.part import SpecPart

MOST_METRICS: Final = 20  # of one job; guessed: each is looked for in each line
_LONGEST_PATTERN: Final = 500
_LARGEST_PATTERN_BYTES: Final = 1 << 16  # compiled; a line of 1000 letters takes 30 ms at the worst


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """Return the pattern, to search with.

    Raises:
        ValueError: it is none, or too large.
    """
    options = re2.Options()
    options.max_mem = _LARGEST_PATTERN_BYTES
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        words = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        raise ValueError(
            f"is no pattern that can be searched for: {words}"
            " | Write a regular expression in RE2's syntax: no look-around, no back-references."
        ) from error


def _check_pattern(pattern: str) -> str:
    if compiled(pattern).groups != 1:
        raise ValueError(
            "does not have exactly one group | Put parentheses around the number, as in"
            " `loss[= ]([0-9.e+-]+)`, and write others as (?:…)."
        )
    return pattern


class LoggedMetric(SpecPart):
    """A metric, and how its number is found in a line of the log."""

    name: Annotated[
        str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_./-]*$"), Field(max_length=80)
    ]
    pattern: Annotated[
        str,
        Field(min_length=1, max_length=_LONGEST_PATTERN),
        AfterValidator(check_text),
        AfterValidator(_check_pattern),
    ]


def _check_names(metrics: Sequence[LoggedMetric]) -> Sequence[LoggedMetric]:
    twice = [name for name, times in Counter(one.name for one in metrics).items() if times > 1]
    if twice:
        raise ValueError(f"names {twice[0]} twice | Give each metric one pattern.")
    return metrics


LoggedMetrics = Annotated[
    list[LoggedMetric], Field(max_length=MOST_METRICS), AfterValidator(_check_names)
]
