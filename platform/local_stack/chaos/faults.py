"""Which faults are inflicted, in which order, and when? All of it follows from one seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

Card = TypeVar("Card")

PAIRS_PER_STRIKE: Final = 0.35
FREEZES_PER_FAULT: Final = 0.25  # the rest are kills; a freeze takes its own time
SHARES_OF_FREEZE: Final = (1 / 6, 1 / 3, 1.0)  # short ones end before anybody has noticed


class Component(StrEnum):
    """What a fault hits."""

    API = "api"
    BEAT = "beat"
    CONTROL = "control"
    IO = "io"
    POSTGRES = "postgres"
    VALKEY = "valkey"
    STACK = "supervisor of the service"
    COORDINATOR = "coordinator"
    WORKER = "worker"
    ALL_WORKERS = "all workers of a job"
    KEEPER = "supervisor of a worker"
    ZYGOTE = "zygotes"


OF_THE_SERVICE: Final = (
    Component.API,
    Component.BEAT,
    Component.CONTROL,
    Component.IO,
    Component.POSTGRES,
    Component.VALKEY,
    Component.STACK,
)


class Way(StrEnum):
    """What happens to it."""

    KILL = "kill -9"
    FREEZE = "freeze"  # SIGSTOP, later SIGCONT: the worst way to be away


class Moment(StrEnum):
    """When it happens, as far as somebody outside can see."""

    QUIET = "quiet"  # no tick, and no job changes its workers
    OBSERVING = "tick: observe"  # reads what there is
    PLANNING = "tick: plan"  # has read everything, and computes
    APPLYING = "tick: apply"  # has begun to write of jobs
    JOINING = "rescale: joining"  # a new worker starts, the others train on
    TRANSFER = "rescale: transfer"  # it is there, and its state is on its way
    SWITCH = "rescale: switch"  # the first step of the new set was just made


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that happens to one component."""

    component: Component
    way: Way
    freeze_seconds: float = 0.0
    lot: float = 0.0  # 0 to 1: which of several workers or jobs it hits

    def __str__(self) -> str:
        if self.way is Way.KILL:
            return f"kill {self.component}"
        return f"freeze {self.component} for {self.freeze_seconds:.0f} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """One fault, or two at once."""

    number: int  # from 1 on
    faults: tuple[Fault, ...]
    moment: Moment

    def __str__(self) -> str:
        return f"{' + '.join(map(str, self.faults))}, {self.moment}"


def choose(*, seed: int, faults: int, freeze_seconds: float) -> tuple[Strike, ...]:
    """So many faults, singly and in pairs; each component and each moment comes equally often."""
    chance = random.Random(seed)  # noqa: S311 - chance, not secrets
    components = _deal(tuple(Component), chance)
    moments = _deal(tuple(Moment), chance)
    strikes: list[Strike] = []
    left = faults
    while left > 0:
        count = 2 if left > 1 and chance.random() < PAIRS_PER_STRIKE else 1
        hit = _different(components, count)
        strikes.append(
            Strike(
                number=len(strikes) + 1,
                faults=tuple(_fault(component, chance, freeze_seconds) for component in hit),
                moment=next(moments),
            )
        )
        left -= count
    return tuple(strikes)


def _deal(cards: Sequence[Card], chance: random.Random) -> Iterator[Card]:
    """One card after the other, and a new shuffle when all are dealt."""
    while True:
        yield from chance.sample(cards, len(cards))


def _different(components: Iterator[Component], count: int) -> list[Component]:
    hit: list[Component] = []
    while len(hit) < count:
        component = next(components)
        if component not in hit:
            hit.append(component)
    return hit


def _fault(component: Component, chance: random.Random, freeze_seconds: float) -> Fault:
    is_freeze = chance.random() < FREEZES_PER_FAULT
    seconds = chance.choice(SHARES_OF_FREEZE) * freeze_seconds
    return Fault(
        component=component,
        way=Way.FREEZE if is_freeze else Way.KILL,
        freeze_seconds=seconds if is_freeze else 0.0,
        lot=chance.random(),
    )
