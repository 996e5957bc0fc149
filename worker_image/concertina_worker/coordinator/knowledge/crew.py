"""Which workers are there, and how is each? What the coordinator sees now; not durable.

A coordinator that takes over has an empty crew. Workers say hello again within a second or two;
until `GRACE_SECONDS` have passed a worker that did not is not counted as lost.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from concertina_worker.protocol import GpuUse, MemberPhase, WorkerReport
from concertina_worker.wire import ScriptPlace

RETURN_SECONDS: Final = 1.0  # guessed: several reconnect delays
MOST_GONE: Final = 1000  # that are remembered; guessed: a job has no more replaced in a day
GRACE_SECONDS: Final = 5.0  # guessed: many reconnect delays; trades a wrong loss for a late one


@dataclass(slots=True, kw_only=True)
class CrewMember:
    """One worker."""

    worker: str
    phase: MemberPhase
    attempt: int = 0  # of the job's starts, the one it was launched for
    is_connected: bool = True
    missing_since: float | None = None  # its connection ended; it may be on its way back
    is_leaving: bool = False  # was asked to end and would like to be replanned first
    is_released: bool = False  # was told to end
    is_going: bool = False  # has said goodbye
    failed_in: int = 0  # newest generation in which a collective broke for it
    heard_at: float = 0.0  # when its newest heartbeat came
    place: ScriptPlace = ScriptPlace.ELSEWHERE  # of its main thread
    since: float = 0.0  # it has been there
    steps: int = 0  # it has made in this generation
    error: str = ""
    is_given_up: bool = False  # lost without having ended: it is stopped, or hangs
    gpu_use: GpuUse = field(default_factory=GpuUse)  # the newest reading; empty: none

    def report(self) -> WorkerReport:
        report = WorkerReport(worker_id=self.worker, phase=self.phase)
        report.update(self.gpu_use)  # type: ignore[typeddict-item] # a part of the report
        if self.error:
            report["error"] = self.error
        if self.is_given_up:
            report["given_up"] = True
        return report


class Crew:
    """The workers that said hello to this process, but for those that have long gone."""

    def __init__(self) -> None:
        self._members: dict[str, CrewMember] = {}

    def __getitem__(self, worker: str) -> CrewMember:
        return self._members[worker]

    def __contains__(self, worker: str) -> bool:
        return worker in self._members

    def add(self, member: CrewMember) -> None:
        self._members.pop(member.worker, None)
        self._members[member.worker] = member  # the newest stand last

    def forget(self, *, but: Collection[str], most: int = MOST_GONE) -> None:
        """All but the newest of those that are gone, and those who are still needed."""
        gone = [worker for worker in self._members if self.is_gone(worker) and worker not in but]
        for worker in gone[:-most]:
            del self._members[worker]

    def remove(self, worker: str) -> None:
        del self._members[worker]

    def connected(self) -> list[CrewMember]:
        return [member for member in self._members.values() if member.is_connected]

    def is_connected(self, worker: str) -> bool:
        return worker in self and self[worker].is_connected

    def is_gone(self, worker: str) -> bool:
        """True for a worker that is not connected and is not expected back."""
        return worker not in self or (
            not self[worker].is_connected and self[worker].missing_since is None
        )

    def missing(self) -> list[CrewMember]:
        """Members whose connection ended a moment ago."""
        return [member for member in self._members.values() if member.missing_since is not None]

    def phase(self, worker: str) -> MemberPhase | None:
        return self[worker].phase if worker in self else None

    def can_join(self, worker: str) -> bool:
        """It waits, warm, for a plan that it is in."""
        return self.is_connected(worker) and (
            self[worker].phase is MemberPhase.READY
            and not self[worker].is_leaving
            and not self[worker].is_released
        )

    def count_as_heard(self, now: float) -> None:
        """This process stood still: heartbeats may lie unread."""
        for member in self.connected():
            member.heard_at = member.since = now

    def is_leaving(self, worker: str) -> bool:
        return worker in self and self[worker].is_leaving

    def failed_in(self, worker: str) -> int:
        return self[worker].failed_in if worker in self else 0

    def reports(self) -> list[WorkerReport]:
        return [member.report() for member in self._members.values()]

    def standing(self) -> tuple[tuple[str, str, str, bool], ...]:
        """Return how each stands, without what moves all the time."""
        return tuple(
            (one.worker, one.phase, one.error, one.is_given_up) for one in self._members.values()
        )
