"""What did each fault cost? Values of one strike, and what they come to for each component."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from local_stack.chaos.faults import Component, Fault, Strike, Way


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultOutcome:
    """One fault that was inflicted."""

    fault: Fault
    target: str
    noticed_seconds: float | None  # None: nobody noticed


@dataclass(frozen=True, slots=True, kw_only=True)
class StrikeOutcome:
    """One strike, and what followed. None: it was not seen to come back."""

    strike: Strike
    began_at: float
    is_at_its_moment: bool
    faults: tuple[FaultOutcome, ...]
    back_seconds: float | None
    back_last: str  # what came back last; empty: nothing was ever seen to be away
    standstill_seconds: float
    steps_made_again: int
    violations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaosResult:
    """One whole run."""

    seed: int
    seconds: float
    outcomes: tuple[StrikeOutcome, ...]
    left: tuple[str, ...]  # violations at its end

    @property
    def faults(self) -> int:
        return sum(len(outcome.faults) for outcome in self.outcomes)

    @property
    def violations(self) -> list[str]:
        """Each once, with the number of the strike after which it was seen first."""
        first: dict[str, str] = {}
        for outcome in self.outcomes:
            for text in outcome.violations:
                first.setdefault(text, f"after strike {outcome.strike.number}: {text}")
        for text in self.left:
            first.setdefault(text, f"at the end: {text}")
        return list(first.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRow:
    """All faults of one component. Of a pair, both components bear the whole cost."""

    component: Component
    ways: dict[Way, int]  # how often it was hit in which
    noticed: int  # of all
    noticed_p50: float | None
    noticed_max: float | None
    back_p50: float | None
    back_max: float | None
    standstill_p50: float
    standstill_max: float
    steps_made_again: int

    @property
    def faults(self) -> int:
        return sum(self.ways.values())


def rows(outcomes: Sequence[StrikeOutcome]) -> list[ComponentRow]:
    """One for each component that was hit, in their usual order."""
    hit = {one.fault.component for outcome in outcomes for one in outcome.faults}
    return [_row(component, outcomes) for component in Component if component in hit]


def _row(component: Component, outcomes: Iterable[StrikeOutcome]) -> ComponentRow:
    pairs = [
        (one, outcome)
        for outcome in outcomes
        for one in outcome.faults
        if one.fault.component is component
    ]
    noticed = [one.noticed_seconds for one, _ in pairs if one.noticed_seconds is not None]
    back = [outcome.back_seconds for _, outcome in pairs if outcome.back_seconds is not None]
    standstill = [outcome.standstill_seconds for _, outcome in pairs]
    return ComponentRow(
        component=component,
        ways=dict(Counter(one.fault.way for one, _ in pairs)),
        noticed=len(noticed),
        noticed_p50=median(noticed),
        noticed_max=max(noticed, default=None),
        back_p50=median(back),
        back_max=max(back, default=None) if len(back) == len(pairs) else math.inf,
        standstill_p50=statistics.median(standstill),
        standstill_max=max(standstill),
        steps_made_again=sum(outcome.steps_made_again for _, outcome in pairs),
    )


def median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
