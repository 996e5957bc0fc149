"""What does one line tell of a script's progress? A line of JSON, or one of its log.

Both are a tenant's: what makes no sense is left out, and a line that tells nothing is none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from jobs.reports.fields import LARGEST_COUNT, LATEST, LONGEST_NAME, MOST_VALUES, clean
from jobs.spec.parts.logged_metrics import LoggedMetric, compiled

LONGEST_LINE: Final = 1000  # letters that patterns see; guessed: the numbers stand at the beginning
_OWN: Final = frozenset({"at", "step", "samples", "total_steps", "epoch", "learning_rate"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptReport:
    """What a script said at one moment. None: it did not say that."""

    at: float  # Unix seconds
    step: int | None = None
    samples: int | None = None
    total_steps: int | None = None
    epoch: float | None = None
    learning_rate: float | None = None
    values: Mapping[str, float] = field(default_factory=dict)


def report_in_json(line: str, *, written_at: float) -> ScriptReport | None:
    """What a line of the report file says; it has to name a step."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    numbers = {name: value for name, value in document.items() if _is_number(value)}
    parsed = _told(numbers, at=written_at)
    return None if parsed.step is None else parsed


def report_in_log(text: str, metrics: Iterable[LoggedMetric], *, at: float) -> ScriptReport | None:
    """What the patterns find in a line of the log; None: nothing."""
    numbers: dict[str, float] = {}
    for metric in metrics:
        found = compiled(metric.pattern).search(text[:LONGEST_LINE])
        number = _number(found.group(1)) if found else None
        if number is not None:
            numbers[metric.name] = number
    return _told(numbers, at=at) if numbers else None


def _told(numbers: Mapping[str, float], *, at: float) -> ScriptReport:
    said_at = _finite(numbers.get("at"))
    return ScriptReport(
        at=said_at if said_at is not None and 0 <= said_at <= LATEST else at,
        step=_count(numbers.get("step")),
        samples=_count(numbers.get("samples")),
        total_steps=_count(numbers.get("total_steps")),
        epoch=_finite(numbers.get("epoch")),
        learning_rate=_finite(numbers.get("learning_rate")),
        values=_named([(name, value) for name, value in numbers.items() if name not in _OWN]),
    )


def _named(values: Sequence[tuple[str, float]]) -> dict[str, float]:
    return {clean(name, LONGEST_NAME): float(value) for name, value in values[:MOST_VALUES]}


def _is_number(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, float) or (isinstance(value, int) and abs(value) <= LARGEST_COUNT)


def _number(text: str | None) -> float | None:
    """Return the number; a comma may stand between thousands."""
    if not text:
        return None
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def _count(value: float | None) -> int | None:
    number = _finite(value)
    return int(number) if number is not None and 0 <= number <= LARGEST_COUNT else None


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
