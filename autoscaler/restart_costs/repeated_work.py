"""How much of its work did a script make again, when it was started with other workers?

Told from the numbers in what both runs wrote, and only as far as these go. The new run passes the
place of its first number, as the old one did: what the old one did from there on, until it was
stopped, was made again. Up to how far before that the new run began, nobody can tell, so the number
is the least that was repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from operator import itemgetter

from autoscaler.restart_costs.numbered_lines import NumberedLine
from autoscaler.restart_costs.progress import Scale, is_rising, scale_of
from jobs.models.generation import ProgressUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedWork:
    """The last number of the old run, the first of the new one, and what was made twice."""

    last: NumberedLine
    first: NumberedLine
    is_seen: bool  # a number came twice
    units: float | None  # at least; None: they cannot be counted
    unit: ProgressUnit
    seconds: float  # at least, and about
    unseen_seconds: float  # behind the last number, if none came twice: may have been repeated
    is_certain: bool  # the new run has gone on counting


def repeated_work(
    old: Sequence[NumberedLine], new: Sequence[NumberedLine], *, stopped_at: datetime
) -> RepeatedWork | None:
    """Compare by the lines that tell it most finely. None: no lines of both runs do."""
    old_by_shape, new_by_shape = _by_shape(old), _by_shape(new)
    found = []
    for shape, before in old_by_shape.items():
        after = new_by_shape.get(shape, [])
        scale = scale_of(before, after) if after else None
        if scale is None or _may_begin_anew(before, (old, new)):
            continue
        repeated = _repeated(scale, before, after, stopped_at)
        fineness = len({scale.place(line) for line in before})
        found.append((fineness, repeated.is_certain, repeated))
    return max(found, key=itemgetter(0, 1))[-1] if found else None


def first_counting(lines: Sequence[NumberedLine]) -> NumberedLine | None:
    """The first line whose number goes forward in later ones; None: no line is known to count."""
    runs = _by_shape(lines).values()
    return min((run[0] for run in runs if scale_of(run, ())), key=_moment, default=None)


def _repeated(
    scale: Scale, old: Sequence[NumberedLine], new: Sequence[NumberedLine], stopped_at: datetime
) -> RepeatedWork:
    begun, got = scale.place(new[0]), scale.place(old[-1])
    is_seen = begun <= got
    since = next((line for line in old if scale.place(line) >= begun), old[-1])
    seconds = (max(stopped_at, old[-1].at) - since.at).total_seconds()
    return RepeatedWork(
        last=old[-1],
        first=new[0],
        is_seen=is_seen,
        units=scale.between(begun, got) if is_seen else 0.0,
        unit=scale.unit,
        seconds=seconds if is_seen else 0.0,
        unseen_seconds=0.0 if is_seen else seconds,
        is_certain=is_rising([scale.place(line) for line in new]),
    )


def _may_begin_anew(old: Sequence[NumberedLine], runs: Iterable[Sequence[NumberedLine]]) -> bool:
    """True if a number without an epoch may be one of several rounds, of which nobody knows which.

    So it may if other lines tell of epochs, unless it is seen to go on from one to the next, and if
    the old run ended with a whole round.
    """
    if old[0].epoch is not None or old[0].inner is None:
        return False
    if old[-1].inner and old[-1].inner.value == old[-1].inner.total:
        return True
    has_epochs = any(line.epoch for run in runs for line in run)
    return has_epochs and not any(_goes_on(old[0].shape, run) for run in runs)


def _goes_on(shape: str, run: Sequence[NumberedLine]) -> bool:
    """True if an epoch began between two lines of this shape, the later of which counts on."""
    epoch: float | None = None
    seen: list[tuple[float, float]] = []  # of each line behind an epoch: this, and its own number
    for line in run:
        if line.shape == shape and line.inner and epoch is not None:
            seen.append((epoch, line.inner.value))
        elif line.epoch:
            epoch = line.epoch.value
    return any(before[0] < after[0] and before[1] < after[1] for before, after in pairwise(seen))


def _by_shape(lines: Iterable[NumberedLine]) -> Mapping[str, list[NumberedLine]]:
    found: dict[str, list[NumberedLine]] = {}
    for line in lines:
        found.setdefault(line.shape, []).append(line)
    return found


def _moment(line: NumberedLine) -> datetime:
    return line.at
