"""What did it cost to start a script with other workers, as far as their logs tell?

In numbers where there are any, and always in words that say how sure they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cluster.worker_host import LogLine

from autoscaler.restart_costs.numbered_lines import NumberedLine, numbered
from autoscaler.restart_costs.repeated_work import RepeatedWork, first_counting, repeated_work
from jobs.models.generation import ProgressUnit, RestartSign

_OURS: Final = "concertina: "  # what the platform itself writes to the log of a worker
_UNITS: Final = {
    ProgressUnit.ITERATION: ("iteration", "iterations"),
    ProgressUnit.EPOCH: ("epoch", "epochs"),
    ProgressUnit.COUNT: ("by its count", "by its count"),
}
_REMEDY: Final = "have the script print the number of each step, as in `step 1200`."

_TENTHS_BELOW: Final = 9.95
_MINUTES_FROM: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartCost:
    """None of a number: not known, which is not the same as nothing."""

    seconds: float | None  # from the order to stop until there was a sign of work
    sign: RestartSign
    repeated_units: float | None = None  # at least
    repeated_unit: ProgressUnit = ProgressUnit.UNKNOWN
    repeated_seconds: float | None = None  # at least, and about
    message: str
    is_certain: bool = False  # another look would tell no more


def restart_cost(
    old: Iterable[LogLine],
    new: Iterable[LogLine],
    *,
    ordered_at: datetime,
    stopped_at: datetime,
) -> RestartCost:
    """Measure by the last lines of a run that worked until `stopped_at`, and the next's first."""
    new_lines = [line for line in new if not line.text.startswith(_OURS)]
    if not new_lines:
        return unknown_cost("Not known: the new workers have written nothing yet.")
    former, since = _numbers(old), _numbers(new_lines)
    repeated = repeated_work(former, since, stopped_at=stopped_at)
    if repeated is not None:
        return _compared(repeated, ordered_at)
    if (counting := first_counting(since)) is not None:
        return _counted(counting, ordered_at)
    return _written(new_lines[0], ordered_at)


def unknown_cost(message: str) -> RestartCost:
    return RestartCost(seconds=None, sign=RestartSign.NONE, message=message)


def _compared(repeated: RepeatedWork, ordered_at: datetime) -> RestartCost:
    seconds = _seconds(repeated.first.at, ordered_at)
    return RestartCost(
        seconds=seconds,
        sign=RestartSign.ITERATION,
        repeated_units=repeated.units,
        repeated_unit=repeated.unit,
        repeated_seconds=repeated.seconds,
        message=(
            f"About {_words(seconds)} from the restart to `{repeated.first.shown}`; the workers"
            f" before had got to `{repeated.last.shown}`. {_again(repeated)}"
        ),
        is_certain=repeated.is_certain,
    )


def _again(repeated: RepeatedWork) -> str:
    if not repeated.is_seen:
        unseen = _words(repeated.unseen_seconds)
        return (
            "No number came twice: at most what was done behind the last one, in about"
            f" {unseen}, was made again."
        )
    work = f"about {_words(repeated.seconds)} of work"
    if not repeated.units:
        return f"At least {work} was made again."
    one, many = _UNITS[repeated.unit]
    units = f"{repeated.units:,.4g}" if repeated.units < 1 else f"{repeated.units:,.0f}"
    return f"At least {units} {one if repeated.units == 1 else many}, {work}, were made again."


def _counted(line: NumberedLine, ordered_at: datetime) -> RestartCost:
    seconds = _seconds(line.at, ordered_at)
    return RestartCost(
        seconds=seconds,
        sign=RestartSign.ITERATION,
        message=(
            f"About {_words(seconds)} from the restart to `{line.shown}`. How much was made again"
            f" is not known: the workers before wrote no such number that goes on; {_REMEDY}"
        ),
    )


def _written(line: LogLine, ordered_at: datetime) -> RestartCost:
    seconds = _seconds(line.at, ordered_at)
    return RestartCost(
        seconds=seconds,
        sign=RestartSign.LINE,
        message=(
            f"About {_words(seconds)} from the restart to the first line of the new workers. When"
            f" they went on, and how much was made again, is not known: {_REMEDY}"
        ),
    )


def _numbers(lines: Iterable[LogLine]) -> Sequence[NumberedLine]:
    return [found for line in lines if (found := numbered(line))]


def _seconds(moment: datetime, since: datetime) -> float:
    return max((moment - since).total_seconds(), 0.0)


def _words(seconds: float) -> str:
    if seconds < _TENTHS_BELOW:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < _MINUTES_FROM else f"{seconds / 60:.0f} min"
