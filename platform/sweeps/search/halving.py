"""Who goes on from a rung, and who is stopped? Asynchronous successive halving; pure.

It is Algorithm 2 of Li et al., "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020.
A rung is an amount of training: the first is `least`, each further one `reduction` times the one
before. A trial that comes to a rung leaves the value of its metric there. As soon as it is among
the best 1/`reduction` of those that have come so far, it goes on, and nobody waits for the others.

Trials here can be paused, so one that is not among the best waits at the rung and may go on later.
The paper leaves two things open, which are decided here:

- *A rung to which nobody comes any more* lets at least its best go on, so that one trial is trained
  to its end however few there are.
- *Who cannot go on any more is stopped*: whoever has as many better ones before it as will ever go
  on, whoever still comes. It is stopped at once, while others still wait.

A value of None is no number, as of a loss that has become infinite: it is worse than each number,
and its trial is stopped. Of equal values, that of the earlier trial counts as better.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MOST_RUNGS: Final = 12
_NEARLY: Final = 1e-9  # of the end: 3 times 0.7 is a little less than 2.1


class MetricGoal(StrEnum):
    """Which values of a metric are better?"""

    MIN = "min"
    MAX = "max"


class TrialFate(StrEnum):
    """Can a trial still go on?"""

    LIVES = "lives"  # it trains, or waits to
    COMPLETED = "completed"
    STOPPED = "stopped"  # by its sweep
    LOST = "lost"  # failed, or cancelled by somebody: it does not count


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialStanding:
    """How far a trial has come."""

    number: int
    marks: Mapping[int, float | None]  # by rung from 0; None: it was no number
    promoted: Collection[int] = ()  # the rungs from which it was let go on
    fate: TrialFate = TrialFate.LIVES

    @property
    def rung(self) -> int:
        """The highest to which it has come; -1: none."""
        return max(self.marks, default=-1)

    def has_passed(self, rung: int) -> bool:
        return rung in self.promoted or self.rung > rung or self.fate is TrialFate.COMPLETED

    def rests_at(self, rung: int) -> bool:
        """Say whether it is for the rung to decide about it."""
        is_there = self.fate is TrialFate.LIVES and self.rung == rung
        return is_there and not self.has_passed(rung)


@dataclass(frozen=True, slots=True, kw_only=True)
class HalvingDecision:
    """Whose turn it is to go on, with the rung from which, and who is stopped: by their numbers."""

    promoted: Sequence[tuple[int, int]] = ()
    stopped: Sequence[int] = ()


def levels(*, least: float, most: float, reduction: int) -> tuple[float, ...]:
    """Return how much training each rung is; the end of the training is none."""
    return tuple(_levels(least, most, reduction))


def decide(
    trials: Collection[TrialStanding],
    *,
    rungs: int,
    reduction: int,
    goal: MetricGoal,
    to_come: int,
) -> HalvingDecision:
    """Decide about all who rest at a rung; `to_come` trials are still to be submitted."""
    promoted: list[tuple[int, int]] = []
    stopped: set[int] = set()
    for rung in range(rungs):
        ranked = _ranked(trials, rung, goal)
        coming = to_come + sum(
            one.fate is TrialFate.LIVES and one.rung < rung and one.number not in stopped
            for one in trials
        )
        may_go_on = len(ranked) // reduction or (0 if coming else 1)
        will_go_on = (len(ranked) + coming) // reduction or 1
        for place, one in enumerate(ranked):
            if not one.rests_at(rung):
                continue
            if one.marks[rung] is None or place >= will_go_on:
                stopped.add(one.number)
            elif place < may_go_on:
                promoted.append((one.number, rung))
    return HalvingDecision(promoted=tuple(promoted), stopped=tuple(sorted(stopped)))


def best_of(trials: Collection[TrialStanding], goal: MetricGoal) -> int | None:
    """Return the number of the best trial: of those that have come furthest, with a value.

    Values at different rungs cannot be compared. The end of the training is a rung here, too. One
    that is lost is the best only where all are, as in a sweep that was cancelled.
    """
    valued = [one for one in trials if one.marks.get(one.rung) is not None]
    valued = [one for one in valued if one.fate is not TrialFate.LOST] or valued
    if not valued:
        return None
    furthest = max(one.rung for one in valued)
    return min(
        (one for one in valued if one.rung == furthest), key=lambda one: _rank(one, furthest, goal)
    ).number


def _ranked(
    trials: Collection[TrialStanding], rung: int, goal: MetricGoal
) -> Sequence[TrialStanding]:
    """Return those that count at a rung, the best first."""
    there = (one for one in trials if rung in one.marks and one.fate is not TrialFate.LOST)
    return sorted(there, key=lambda one: _rank(one, rung, goal))


def _rank(one: TrialStanding, rung: int, goal: MetricGoal) -> tuple[bool, float, int]:
    """Return what is smaller for a better trial."""
    value, sign = one.marks[rung], 1 if goal is MetricGoal.MIN else -1
    return (value is None, 0.0 if value is None else sign * value, one.number)


def _levels(least: float, most: float, reduction: int) -> Iterator[float]:
    level = least
    for _ in range(MOST_RUNGS):
        if level >= most * (1 - _NEARLY):
            return
        yield level
        level *= reduction
