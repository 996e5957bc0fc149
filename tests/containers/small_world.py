"""One process, its record and its container: everything that may happen to them, and what must not.

Whoever is at it holds its lock, takes one step at a time and may die before any of them. All others
only look, and find the lock taken. What decides is the product's; what a step does is told here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from cluster.docker_host.lifecycle.steps import ContainerObservation, ContainerState, LifecycleStep

AT_REST: Final = frozenset(
    {ContainerState.UNKNOWN, ContainerState.REFUSED, ContainerState.RUNNING, ContainerState.EXITED}
)
_ROUNDS: Final = 20


class PromiseBroken(Exception):
    """What must never be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A few facts of what a disk, a daemon and its services hold."""

    container: str | None = None  # Docker's word
    has_record: bool = False
    has_ended: bool = False
    has_scratch: bool = False
    is_copied: bool = False  # the log of the container that ended
    is_to_end: bool = False
    is_forgotten: bool = False
    is_forgetting: bool = False  # somebody who looked is about to write down that it is forgotten
    is_held: bool = False
    is_launched: bool = False  # by who holds the lock
    steps: tuple[LifecycleStep, ...] = ()  # of who holds the lock

    def look(self, **fields: bool) -> ContainerObservation:
        known = {
            "has_record": self.has_record,
            "has_ended": self.has_ended,
            "is_held": self.is_held,
            "is_to_end": self.is_to_end,
            "is_forgotten": self.is_forgotten,
        }
        return ContainerObservation(status=self.container, **{**known, **fields})


Happening: TypeAlias = tuple[str, World]


def happenings(world: World) -> Iterator[Happening]:
    """All that may happen next."""
    if world.is_held:
        yield from _to_the_holder(world)
    else:
        yield "launch", launched(world)
        yield "look", looked(world)
    yield "stop", stopped(world)
    if world.is_forgetting:
        written = replace(world, has_record=True, is_forgotten=True, is_forgetting=False)
        yield "forget", written
    elif LifecycleStep.DROP in world.look(is_forgotten=True).steps:
        yield "about to forget", replace(world, is_forgetting=True)
    yield from _to_the_container(world)


def _to_the_holder(world: World) -> Iterator[Happening]:
    yield "go on", gone_on(world)
    yield "death", _let_go(world)
    if world.is_launched:
        yield "start fails", replace(_without_what_was_made(world), steps=())
        if world.container in {None, "created"}:
            refused = replace(world, has_ended=True)
            yield "start is refused", _let_go(_without_what_was_made(refused))
            yield "start is refused, and the daemon falls silent", _let_go(refused)
    elif world.steps[:1] == (LifecycleStep.REMOVE,) and world.container:
        yield "removal takes too long", _let_go(replace(world, container="removing"))


def _to_the_container(world: World) -> Iterator[Happening]:
    if world.container == "running":
        yield "exit", replace(world, container="exited", is_copied=False)
    if world.container == "exited":
        yield "log is copied", replace(world, is_copied=True)
    if world.container == "removing":
        yield "gone", replace(world, container=None)
    if world.container is not None:
        yield "somebody removes it", replace(world, container=None)


def launched(world: World) -> World:
    """`start` is called, by whoever gets the lock."""
    if LifecycleStep.MAKE not in replace(world.look(is_launched=True), status=None).steps:
        return world
    return replace(world, has_record=True, is_held=True, is_launched=True)


def looked(world: World) -> World:
    """Somebody lists it: what runs is asked to end, the rest is begun under the lock."""
    if world.is_held or not world.look().steps or LifecycleStep.STOP in world.look().steps:
        return world
    return replace(world, is_held=True, steps=world.look().steps)


def stopped(world: World) -> World:
    """`stop` writes the wish down if somebody prepares it, or it runs."""
    if world.has_ended or not (world.is_held or world.container == "running"):
        return world
    return replace(world, has_record=True, is_to_end=True)


def gone_on(world: World) -> World:
    """Who holds the lock takes the next step, or lets go if there is none."""
    if world.is_launched and world.is_to_end and world.container in {None, "created"}:
        return _let_go(replace(world, container=None, has_ended=True))
    if world.steps:
        return _taken(world.steps[0], replace(world, steps=world.steps[1:]))
    steps = world.look(is_held=False, is_launched=True).steps if world.is_launched else ()
    return replace(world, steps=steps) if LifecycleStep.START in steps else _let_go(world)


def _without_what_was_made(world: World) -> World:
    return replace(world, container=None) if world.container == "created" else world


def _let_go(world: World) -> World:
    return replace(world, is_held=False, is_launched=False, steps=())


def _taken(step: LifecycleStep, world: World) -> World:
    _check(step, world)
    if step is LifecycleStep.COPY_LOG and world.container == "exited" and not world.is_copied:
        return _let_go(world)
    if step is LifecycleStep.DROP:
        return World(is_forgetting=world.is_forgetting)
    changes: dict[LifecycleStep, dict[str, Any]] = {
        LifecycleStep.MAKE: {"container": "created", "has_scratch": True},
        LifecycleStep.START: {"container": world.container and "running"},
        LifecycleStep.FORGET: {"is_forgotten": True},
        LifecycleStep.DISCARD: {"has_scratch": False},
        LifecycleStep.COPY_LOG: {},
        LifecycleStep.REMOVE: {"container": None},
    }
    return replace(world, **changes[step])


def _check(step: LifecycleStep, world: World) -> None:
    """What must hold for a step; else nobody would notice the harm that it does."""
    match step:
        case LifecycleStep.MAKE:
            _must(world.container is None, "a second container")
        case LifecycleStep.START:
            _must(world.container in {"created", None}, "started again")
            _must(world.has_scratch or world.container is None, "started without its scratch")
        case LifecycleStep.FORGET:
            is_over = world.has_ended or world.container == "exited"
            _must(world.is_forgotten or not is_over, "forgotten before anybody asked for it")
        case LifecycleStep.DISCARD:
            _must(world.container != "running", "the scratch of what runs")
        case LifecycleStep.REMOVE:
            _must(world.container != "running", "removed while it runs")
            is_kept = world.is_copied or world.container != "exited"
            _must(is_kept, "removed before its log was copied")
        case LifecycleStep.DROP:
            _must(world.container is None, "a container without a record")
            _must(world.is_forgotten, "dropped before anybody forgot it")


def _must(is_kept: object, otherwise: str) -> None:
    if not is_kept:
        raise PromiseBroken(otherwise)


def settled(world: World) -> World:
    """Once nothing goes wrong any more, and everybody goes on with what is to be done."""
    for _ in range(_ROUNDS):
        before = world
        if world.is_forgetting:
            world = replace(world, has_record=True, is_forgotten=True, is_forgetting=False)
        if world.container == "removing":
            world = replace(world, container=None)
        if world.container == "running" and world.is_forgotten:
            _must(world.look().is_listed, "runs, and nobody sees it")
            world = replace(world, is_to_end=True)  # by who lists it and has no use for it
        if LifecycleStep.STOP in world.look().steps and world.is_to_end:
            world = replace(world, container="exited")
        if world.container == "exited":
            world = replace(world, is_copied=True)
        world = gone_on(world) if world.is_held else looked(world)
        if world == before:
            return world
    return world


def left_undone(world: World) -> Iterator[str]:
    """What is still as nobody wished it."""
    after = settled(world)
    state = after.look().state
    if state not in AT_REST:
        yield f"stays {state}"
    if after.is_forgotten:
        yield f"forgotten and still there: {after}"
    if after.is_to_end and state is ContainerState.RUNNING:
        yield "does not end"
    if (
        state is ContainerState.UNKNOWN
        and settled(launched(after)).look().state is not ContainerState.RUNNING
    ):
        yield "cannot be started"
