"""What did one tick cost, part by part? Statements, and processor seconds of both processes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from cluster.in_memory_host import InMemoryHost
from cluster.process_host.process_environments import MachineEnvironments
from django.db import connection
from django.utils import timezone

from autoscaler.control_loop.tick import ControlLoop
from autoscaler.planning import planner
from autoscaler.planning.decisions import invariants
from autoscaler.planning.decisions.plan import Action, Plan
from autoscaler.planning.snapshot.cluster_state import ClusterState
from jobs.changes.demand_signal import demand_changed

PARTS = ("observe", "plan", "carry out")
_NO_CHANGE = {Action.KEEP, Action.WAIT}


@dataclass(frozen=True, slots=True)
class Mark:
    """What was spent so far."""

    statements: int
    python_seconds: float
    postgres_seconds: float

    def __add__(self, other: Mark) -> Mark:
        return Mark(
            self.statements + other.statements,
            self.python_seconds + other.python_seconds,
            self.postgres_seconds + other.postgres_seconds,
        )

    def __sub__(self, other: Mark) -> Mark:
        return Mark(
            self.statements - other.statements,
            self.python_seconds - other.python_seconds,
            self.postgres_seconds - other.postgres_seconds,
        )


@dataclass(slots=True)
class Meter:
    """Counts statements of this process, and the processor time of its PostgreSQL backend."""

    host: InMemoryHost
    statements: int = 0
    marks: list[Mark] = field(default_factory=list)
    changes: int = 0
    puts_off: bool = False  # it had no time for all jobs, and asked for another tick
    sql: list[str] = field(default_factory=list)
    _state_dir: Path = field(default_factory=lambda: Path(tempfile.mkdtemp()))

    def __post_init__(self) -> None:
        demand_changed.connect(self._note_that_it_asks, weak=False)

    def tick(self) -> list[Mark]:
        """One tick by the real planner; returns what each part cost."""
        self.puts_off = False
        self.statements, self.marks, self.changes, self.sql = 0, [], 0, []
        with connection.execute_wrapper(self._count):
            self._mark()
            assert self._loop().run_once()
            self._mark()
        return [after - before for before, after in zip(self.marks, self.marks[1:], strict=False)]

    def _note_that_it_asks(self, **_: object) -> None:
        self.puts_off = True

    def _loop(self) -> ControlLoop:
        return ControlLoop(
            host=self.host,
            planner=self._plan,
            check=self._check,
            clock=timezone.now,
            holder="benchmark",
            state_dir=self._state_dir,
            environments=MachineEnvironments(
                state_dir=self._state_dir,
                service_url="http://127.0.0.1:1",
                interpreter=Path("/usr/bin/python3"),
            ),
        )

    def _plan(self, state: ClusterState) -> Plan:
        self._mark()
        found = planner.plan(state)
        self.changes = sum(one.action not in _NO_CHANGE for one in found.decisions)
        return found

    def _check(self, state: ClusterState, plan: Plan) -> Sequence[invariants.Violation]:
        found = invariants.check(state, plan)
        self._mark()
        return found

    def _count(self, execute: Callable[..., Any], *statement: Any) -> Any:
        self.statements += 1
        self.sql.append(str(statement[0]))
        return execute(*statement)

    def _mark(self) -> None:
        connection.ensure_connection()
        backend = connection.connection.info.backend_pid
        on_processor, *_ = Path(f"/proc/{backend}/schedstat").read_text().split()
        self.marks.append(Mark(self.statements, process_time(), int(on_processor) / 1e9))


def medians(ticks: Sequence[list[Mark]]) -> list[Mark]:
    """Of each part over several ticks."""
    return [
        Mark(
            round(median(one.statements for one in parts)),
            median(one.python_seconds for one in parts),
            median(one.postgres_seconds for one in parts),
        )
        for parts in zip(*ticks, strict=True)
    ]
