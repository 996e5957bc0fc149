"""Which faults are inflicted, in which order, and when? All of it follows from one seed."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

Card = TypeVar("Card")

PAIRS_PER_STRIKE: Final = 0.5
FREEZES_PER_FAULT: Final = 0.25  # the rest are kills; a freeze takes its own time
NODE_LOST_SECONDS: Final = 20.0  # of silence, until the service gives up what runs on a node
ABSENCE_SECONDS: Final = 60.0  # of a node: long enough to give it up and to start elsewhere
FILLS_PER_DISK: Final = 0.5  # the rest make it slow
SHARES_OF_LONGEST: Final = (1 / 6, 1 / 6, 1 / 6, 1 / 3, 1 / 3, 1.0)  # short ones end unnoticed


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
    DISK = "disk"
    REPORTS = "network: coordinators to the service"
    CONTROL_LINE = "network: workers to their coordinator"
    GRADIENTS = "network: workers among each other"
    DOCKERD = "dockerd"
    NODE = "node"

    @property
    def word(self) -> str:
        """The word by which a person asks for it."""
        return self.name.lower().replace("_", "-")


OF_THE_SERVICE: Final = (
    Component.API,
    Component.BEAT,
    Component.CONTROL,
    Component.IO,
    Component.POSTGRES,
    Component.VALKEY,
    Component.STACK,
)
OF_MACHINES: Final = (Component.DOCKERD, Component.NODE)
IN_CONTAINERS: Final = (  # what containers change; the rest of the service knows nothing of them
    Component.CONTROL,
    Component.COORDINATOR,
    Component.WORKER,
    Component.ALL_WORKERS,
    *OF_MACHINES,
)
OF_THE_NETWORK: Final = (Component.REPORTS, Component.CONTROL_LINE, Component.GRADIENTS)


class Way(StrEnum):
    """What happens to it."""

    KILL = "kill -9"
    FREEZE = "freeze"  # SIGSTOP, later SIGCONT: the worst way to be away
    FILL = "fill"  # no room is left, later it is given back
    SLOW = "slow"  # every write waits, later it goes on
    CUT = "cut"  # no packet arrives, later they do again
    LOSE = "lose"  # all that runs there ends at once, later its daemon starts again


LASTING: Final = frozenset({Way.FREEZE, Way.FILL, Way.SLOW, Way.CUT, Way.LOSE})


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
    seconds: float = 0.0  # how long it lasts; a kill does not
    lot: float = 0.0  # 0 to 1: which of several workers or jobs it hits

    def __str__(self) -> str:
        if self.way is Way.KILL:
            return f"kill {self.component}"
        return f"{self.way} {self.component} for {self.seconds:.0f} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """One fault, or two at once."""

    number: int  # from 1 on
    faults: tuple[Fault, ...]
    moment: Moment

    def __str__(self) -> str:
        return f"{' + '.join(map(str, self.faults))}, {self.moment}"


def choose(
    *,
    seed: int,
    faults: int,
    longest_seconds: float,
    components: Collection[Component] = tuple(Component),
) -> tuple[Strike, ...]:
    """Choose faults, singly and in pairs; each component and each moment comes equally often."""
    chance = random.Random(seed)  # noqa: S311 - chance, not secrets
    dealt = _deal([one for one in Component if one in components], chance)
    moments = _deal(tuple(Moment), chance)
    strikes: list[Strike] = []
    left = faults
    while left > 0:
        is_pair = left > 1 and len(components) > 1 and chance.random() < PAIRS_PER_STRIKE
        hit = _different(dealt, 2 if is_pair else 1)
        strikes.append(
            Strike(
                number=len(strikes) + 1,
                faults=tuple(_fault(component, chance, longest_seconds) for component in hit),
                moment=next(moments),
            )
        )
        left -= len(hit)
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


def _fault(component: Component, chance: random.Random, longest_seconds: float) -> Fault:
    way = _way(component, chance)
    seconds = chance.choice(SHARES_OF_LONGEST) * longest_seconds
    if way is Way.LOSE:
        seconds = ABSENCE_SECONDS
    return Fault(
        component=component,
        way=way,
        seconds=seconds if way in LASTING else 0.0,
        lot=chance.random(),
    )


def _way(component: Component, chance: random.Random) -> Way:
    drawn = chance.random()
    if component is Component.DISK:
        return Way.FILL if drawn < FILLS_PER_DISK else Way.SLOW
    if component in OF_THE_NETWORK:
        return Way.CUT
    if component is Component.NODE:
        return Way.LOSE
    return Way.FREEZE if drawn < FREEZES_PER_FAULT else Way.KILL
