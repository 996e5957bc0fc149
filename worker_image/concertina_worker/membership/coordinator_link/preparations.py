"""Which plan could this worker switch to now? Groups are built in the background.

Each new plan starts a thread that builds its group, while training goes on. A later plan
supersedes an unfinished build: nobody waits for a group that cannot come about, because one of
its members may be dead. A recovery plan ends the groups that stand as well: whoever waits in a
collective for the lost member gets out of it, though that member may only be stopped.

A plan for the members there are already keeps their group. It may arrive while they get into that
one after the other, so each looks at the newest plan again once it is in: all come to the same.
A joiner may be the last to get in, or still be building: the group of the plan by which it is to
join stays ready for it, unless a recovery or another plan lets it in.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass

from concertina_worker.collective.group import Group
from concertina_worker.collective.wires import Wires
from concertina_worker.plan import GenerationPlan
from concertina_worker.process import background

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedPlan:
    """A plan whose group stands; without one when this worker is to leave."""

    plan: GenerationPlan
    group: Group | None


class Preparations:
    """The newest plan, and its group as soon as it is built."""

    def __init__(self, worker: str, build: Callable[[GenerationPlan, Wires], Group]) -> None:
        """`build` blocks until all members have met, and raises RuntimeError if they do not."""
        self._worker = worker
        self._build = build
        self._changed = threading.Condition()
        self._newest: GenerationPlan | None = None
        self._prepared: PreparedPlan | None = None
        self._current: Group | None = None
        self._building: set[Wires] = set()
        self._let_in_by = 0  # the newest generation that workers without a group get into
        self._begun = 0  # generation whose group was begun to be built last
        self._wires: weakref.WeakSet[Wires] = weakref.WeakSet()  # of all groups anybody still has
        self.on_build_failed: Callable[[GenerationPlan], None] = lambda _: None

    @property
    def newest(self) -> GenerationPlan | None:
        return self._newest

    def take(self, plan: GenerationPlan) -> None:
        """A plan arrived; may be called from any thread."""
        with self._changed:
            if self._newest is not None and plan.generation <= self._newest.generation:
                return
            self._newest = plan
            if self._lets_in(plan):
                self._let_in_by = plan.generation
            if not self._is_for_now(plan):
                return
            useless = [*(self._wires if plan.is_recovery else self._building)]
            self._prepared = None
            self._make_ready(plan)
        for wires in useless:
            wires.cut()

    def is_given_up(self, plan: GenerationPlan) -> bool:
        """True if a plan by which this worker is to join will never come about.

        A later plan that recovers, or lets it join again, takes its place. Any other may follow on
        it: members are in already.
        """
        return self._let_in_by > plan.generation

    def end(self) -> None:
        """End all preparations: whoever waits in a group, or for one, gets out of it."""
        with self._changed:
            useless = [*self._wires]
            self._prepared = self._current = None
        for wires in useless:
            wires.cut()

    def stand_in(self, group: Group | None) -> None:
        """This is the group the worker trains in now."""
        with self._changed:
            self._current = group
            if group is None or self._newest is None:
                return
            if self._newest.generation <= group.plan.generation:
                self._prepared = None
            elif not self._newest.is_recovery:
                self._make_ready(self._newest)

    def prepared(self) -> PreparedPlan | None:
        with self._changed:
            return self._prepared

    def drop(self, generation: int) -> None:
        """Forget the group of this generation: it will not be used."""
        with self._changed:
            if self._prepared is not None and self._prepared.plan.generation <= generation:
                self._prepared = None

    def await_prepared(
        self, accept: Callable[[PreparedPlan], bool], *, timeout_seconds: float
    ) -> PreparedPlan | None:
        """Return what is prepared, as soon as it is acceptable; None after the time."""

        def acceptable() -> PreparedPlan | None:
            prepared = self._prepared
            return prepared if prepared is not None and accept(prepared) else None

        with self._changed:
            return self._changed.wait_for(acceptable, timeout=timeout_seconds)

    def _make_ready(self, plan: GenerationPlan) -> None:
        """Make a plan ready: at once if no group is to be built, else as soon as it stands."""
        if self._worker not in plan.participants:
            self._prepared = PreparedPlan(plan=plan, group=None)
        elif kept := self._kept_under(plan):
            self._prepared = PreparedPlan(plan=plan, group=kept)
        elif self._begun < plan.generation:
            self._prepared = None
            self._begun = plan.generation
            wires = Wires()
            self._wires.add(wires)
            self._building.add(wires)
            background.start("concertina_prepare", self._prepare, plan, wires)
        self._changed.notify_all()

    def _kept_under(self, plan: GenerationPlan) -> Group | None:
        """The group of now, if it serves under that plan, too."""
        current = self._current
        if current is None or plan.is_recovery or plan.members != current.plan.members:
            return None
        return current.under(plan)

    def _is_for_now(self, plan: GenerationPlan) -> bool:
        """False for a plan that this worker has to look at once it is in the group before."""
        return self._current is not None or self._lets_in(plan)

    def _lets_in(self, plan: GenerationPlan) -> bool:
        """Workers that are in no group get into this one."""
        return plan.is_recovery or self._worker in plan.joiners

    def _is_of_use(self, plan: GenerationPlan) -> bool:
        """The group that was built for this plan is still one to get into."""
        if self._newest == plan:
            return self._kept_under(plan) is None
        return self._current is None and not self.is_given_up(plan)

    def _prepare(self, plan: GenerationPlan, wires: Wires) -> None:
        try:
            group = self._build(plan, wires)
        except Exception as error:  # noqa: BLE001 - whatever it is, the others must not wait
            if self._is_of_use(plan):
                _log.warning("No group of plan %d: %r action=replan", plan.generation, error)
                self.on_build_failed(plan)
            return
        finally:
            self._building.discard(wires)
        with self._changed:
            if self._is_of_use(plan):
                self._prepared = PreparedPlan(plan=plan, group=group)
                self._changed.notify_all()
