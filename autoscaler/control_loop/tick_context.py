"""What does every verb of the control loop need from outside? Passed in, wired in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from cluster.process_environments import ProcessEnvironments
from storage.code.bounds import CodeLimits
from storage.code.paths import CodePaths
from storage.data.rules import DataRules

from autoscaler.control_loop.lease.exclusive import Fence
from autoscaler.control_loop.outside.arrival import StartPrerequisite
from autoscaler.control_loop.outside.cluster_records import ClusterRecords
from autoscaler.control_loop.outside.process_table import ProcessTable
from autoscaler.reconciling.limits import LIMITS, TimeLimits
from autoscaler.team_budget import TeamBudget
from jobs.admission.disk_limits import DiskLimits, TeamDisk
from jobs.models import Job

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class TickContext:
    """One tick's hold on the world: the processes, the time, and the right to write."""

    processes: ProcessTable
    clock: Clock
    fence: Fence
    environments: ProcessEnvironments
    code: CodePaths
    data: DataRules
    code_limits: CodeLimits = field(default_factory=CodeLimits)
    limits: TimeLimits = LIMITS
    disk_limits: DiskLimits = field(default_factory=DiskLimits)
    around: ClusterRecords = field(default_factory=ClusterRecords)
    arriving: dict[str, StartPrerequisite] = field(default_factory=dict)  # by job: what it lacks
    owners_wait_since: dict[tuple[int, int], datetime | None] = field(default_factory=dict)
    """For what a team's jobs borrow of a pool, by ids of both, as far as it was asked for."""

    @property
    def now(self) -> datetime:
        return self.clock()

    @contextmanager
    def changing(self, job_id: str) -> Iterator[Job]:
        """A transaction that holds the job's row, as every writer does, so that none deadlocks.

        Raises:
            LeaseLost: another process holds the lease now.
        """
        with self.fence.transaction():
            yield Job.objects.select_for_update(no_key=True).get(pk=job_id)

    def team_disk(self, team_id: int) -> TeamDisk | None:
        """Return what the team's jobs keep and may keep; None: it was deleted."""
        team = self.around.teams.get(team_id)
        if team is None:
            return None
        return self.disk_limits.of_team(
            team.name, bytes_=team.disk_bytes, gibibytes=team.most_disk_gib
        )

    def used_up_budget(self, team_id: int) -> TeamBudget | None:
        """Return one of its own or of a team above that is used up: one that pauses, if any."""
        return self.around.used_up_budget(team_id, self.now)

    def seconds_since(self, moment: datetime | None) -> float:
        """Return how long ago it was; infinite for something that never happened."""
        return float("inf") if moment is None else (self.now - moment).total_seconds()
