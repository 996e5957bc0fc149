"""Which plan could this worker switch to now? Groups are built in the background.

Each new plan starts a thread that builds its group, while training goes on. A later plan
supersedes an unfinished build: nobody waits for a group that cannot come about, because one of
its members may be dead. A recovery plan ends the groups that stand as well: whoever waits in a
collective for the lost member gets out of it, though that member may only be stopped.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass

from concertina_worker.collective import background
from concertina_worker.collective.group import Group
from concertina_worker.collective.wires import Wires
from concertina_worker.plan import Plan

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A plan whose group stands; without one when this worker is to leave."""

    plan: Plan
    group: Group | None


class Preparations:
    """The newest plan, and its group as soon as it is built."""

    def __init__(self, worker: str, build: Callable[[Plan, Wires], Group]) -> None:
        """`build` blocks until all members have met, and raises RuntimeError if they do not."""
        self._worker = worker
        self._build = build
        self._changed = threading.Condition()
        self._newest: Plan | None = None
        self._prepared: Prepared | None = None
        self._current: Group | None = None
        self._building: set[Wires] = set()
        self._wires: weakref.WeakSet[Wires] = weakref.WeakSet()  # of all groups anybody still has
        self.on_build_failed: Callable[[Plan], None] = lambda _: None

    @property
    def newest(self) -> Plan | None:
        return self._newest

    def take(self, plan: Plan) -> None:
        """A plan arrived; may be called from any thread."""
        with self._changed:
            if self._newest is not None and plan.generation <= self._newest.generation:
                return
            self._newest = plan
            useless = [*(self._wires if plan.is_recovery else self._building)]
            self._prepared = self._without_building(plan)
            self._changed.notify_all()
            if self._prepared is None:
                wires = Wires()
                self._wires.add(wires)
                self._building.add(wires)
                background.start("concertina_prepare", self._prepare, plan, wires)
        for wires in useless:
            wires.cut()

    def end(self) -> None:
        """Nothing is needed any more: whoever waits in a group, or for one, gets out of it."""
        with self._changed:
            self._prepared = self._current = None
        for wires in [*self._wires]:
            wires.cut()

    def stand_in(self, group: Group | None) -> None:
        """This is the group the worker trains in now."""
        with self._changed:
            self._current = group
            if self._prepared is not None and group is not None:
                is_old = self._prepared.plan.generation <= group.plan.generation
                self._prepared = None if is_old else self._prepared

    def prepared(self) -> Prepared | None:
        with self._changed:
            return self._prepared

    def drop(self, generation: int) -> None:
        """Forget the group of this generation: it will not be used."""
        with self._changed:
            if self._prepared is not None and self._prepared.plan.generation <= generation:
                self._prepared = None

    def await_prepared(
        self, accept: Callable[[Prepared], bool], *, timeout_seconds: float
    ) -> Prepared | None:
        """What is prepared, as soon as it is acceptable; None after the time."""

        def acceptable() -> Prepared | None:
            prepared = self._prepared
            return prepared if prepared is not None and accept(prepared) else None

        with self._changed:
            return self._changed.wait_for(acceptable, timeout=timeout_seconds)

    def _without_building(self, plan: Plan) -> Prepared | None:
        if self._worker not in plan.members:
            return Prepared(plan=plan, group=None)
        current = self._current
        if current is not None and not plan.is_recovery and plan.members == current.plan.members:
            return Prepared(plan=plan, group=current.under(plan))
        return None

    def _prepare(self, plan: Plan, wires: Wires) -> None:
        try:
            group = self._build(plan, wires)
        except Exception as error:  # noqa: BLE001 - whatever it is, the others must not wait
            if self._newest == plan:
                _log.warning("No group of plan %d: %r action=replan", plan.generation, error)
                self.on_build_failed(plan)
            return
        finally:
            self._building.discard(wires)
        with self._changed:
            if self._newest == plan:
                self._prepared = Prepared(plan=plan, group=group)
                self._changed.notify_all()
