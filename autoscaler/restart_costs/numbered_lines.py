"""Which step, iteration or epoch does a line of a log tell of?

A number counts only behind a word for it, behind an epoch, or in a progress bar, as in
`Train Epoch: 3 [19200/60000 (32%)]`, `iter 300: loss 2.1`, `{'step': 12}` and
` 12%|█▏   | 340/5000 [00:34<07:54]`. What is not known for sure is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cluster.worker_host import LogLine

from jobs.models.generation import ProgressUnit

_MOST_CHARACTERS: Final = 400  # of a line; guessed: the numbers stand at its beginning
_MOST_SHOWN: Final = 60
_ESCAPES: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x1f\x7f-\x9f\ufffd]")

_NUMBER: Final = r"\d{1,3}(?:,\d{3})+|\d{1,15}"
_BETWEEN: Final = r"""["'\s:=#\[(]{0,12}"""
_OF_ALL: Final = rf"(?:\s{{0,3}}(?:/|of)\s{{0,9}}({_NUMBER}))?"
_END: Final = r"(?![\w%]|[.,]\d)"
_EPOCH: Final = re.compile(
    rf"(?ai)(?<![a-z_])epoch{_BETWEEN}((?:{_NUMBER})(?:\.\d{{1,15}})?){_OF_ALL}{_END}"
)
_TRAIN: Final = re.compile(r"(?ai)(?<![a-z_])train: {0,4}(\d{1,15})()(?= {1,4}\[ {0,9}\d{1,15}/)")
_ITERATION: Final = re.compile(
    rf"(?ai)(?<![a-z_])(?:global_|train_)?(?:step|iteration|iter|it|batch){_BETWEEN}"
    rf"({_NUMBER}){_OF_ALL}{_END}"
)
_GRAPHIC: Final = r"%\|[^|]{0,200}\|"
_BAR: Final = re.compile(
    rf"(?a)(?<!\d)\d{{1,3}}{_GRAPHIC} {{0,12}}(\d{{1,15}})/(\d{{1,15}}) \[[\d:]{{1,12}}<(?!\?)"
)
"""As tqdm draws it, once something was counted: one that is only opened begins with `<?`."""
_PAIR: Final = re.compile(r"(?a)[\]\s:|,\[(-]{1,12}(\d{1,15}) ?/ {0,9}(\d{1,15})(?![\d/])")
_OTHER_NUMBERS: Final = re.compile(
    r"(?ai)(rank\W{0,2}\d{1,6})|[+-]?\d(?:[\d.,]*\d)?(?:e[+-]?\d+)?|\b(?:nan|inf)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedCount:
    """A number, and of how many if the line says so."""

    value: float
    total: float | None = None
    unit: ProgressUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedLine:
    """How far a script is: in epochs, in what it counts within them or all along, or both."""

    at: datetime
    shape: str  # all up to the numbers, without other numbers: lines of one shape count alike
    shown: str
    epoch: NumberedCount | None
    inner: NumberedCount | None


def numbered(line: LogLine) -> NumberedLine | None:
    """Return what the line tells; None: nothing."""
    text = _ESCAPES.sub("", line.text[:_MOST_CHARACTERS])
    epoch = _EPOCH.search(text) or _TRAIN.search(text)
    inner = _ITERATION.search(text) or _BAR.search(text)
    unit = ProgressUnit.ITERATION
    if epoch and not inner:
        inner, unit = _PAIR.match(text, epoch.end()), ProgressUnit.COUNT
    found = [match for match in (epoch, inner) if match]
    if not found:
        return None
    end = max(match.end(2) if match[2] else match.end(1) for match in found)
    return NumberedLine(
        at=line.at,
        shape=_shape(text[:end]),
        shown=_shown(text[min(match.start() for match in found) : end]),
        epoch=_count(epoch, ProgressUnit.EPOCH) if epoch else None,
        inner=_count(inner, unit) if inner else None,
    )


def _shape(text: str) -> str:
    """Ranks stay apart: they count beside each other."""
    masked = _OTHER_NUMBERS.sub(lambda found: found[1] or "#", re.sub(_GRAPHIC, "%|", text))
    return " ".join(masked.split())


def _shown(text: str) -> str:
    words = re.sub(_GRAPHIC, "% ", text).replace("'", "").replace('"', "").split()
    return " ".join(words)[:_MOST_SHOWN]


def _count(match: re.Match[str], unit: ProgressUnit) -> NumberedCount:
    total = _value(match[2]) if match[2] else None
    return NumberedCount(value=_value(match[1]), total=total or None, unit=unit)


def _value(digits: str) -> float:
    return float(digits.replace(",", ""))
