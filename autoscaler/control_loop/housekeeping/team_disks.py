"""How much do all jobs of each team keep on disk? Summed again and again, from what was measured.

Jobs that hold GPUs are read in every tick anyway. What the others keep changes seldom: it is summed
now and then, and when one of them begins or ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, Q, QuerySet, Sum
from tenancy.models import Team

from autoscaler.control_loop.tick_context import TickContext
from jobs.lifecycle import ACTIVE, LIVE, JobState
from jobs.models import Job

_AGAIN: Final = timedelta(seconds=10)  # guessed, as for looks into folders
_HELD: Final = (*sorted(ACTIVE), JobState.STOPPING)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldDisk:
    """What is known of a job that may write."""

    job_id: str
    team_id: int
    bytes_: int | None
    bytes_within: int | None

    @property
    def has_grown(self) -> bool:
        known = -1 if self.bytes_within is None else self.bytes_within
        return self.bytes_ is not None and self.bytes_ > known


def held_disks() -> list[HeldDisk]:
    """One for each job that may write, in one statement."""
    rows = Job.objects.filter(state__in=_HELD).order_by()
    found = rows.values_list("pk", "team_id", "disk_bytes", "disk_bytes_within")
    return [
        HeldDisk(job_id=job, team_id=team, bytes_=size, bytes_within=within)
        for job, team, size, within in found
    ]


@dataclass(slots=True)
class TeamDisks:
    """Sums for all teams, and remembers what jobs keep that do not write."""

    _resting: Mapping[int, int] = field(default_factory=dict)  # bytes, by team
    _summed_at: datetime | None = None
    _held: frozenset[str] = frozenset()

    def go_on(self, held: Sequence[HeldDisk], context: TickContext) -> None:
        """Write down the sums that changed, and what jobs of teams with room take now.

        Raises:
            LeaseLost: another process holds the lease now.
        """
        self._sum_resting(frozenset(disk.job_id for disk in held), context.now)
        sums = Counter(self._resting)
        for disk in held:
            sums[disk.team_id] += disk.bytes_ or 0
        _write_sums(sums, context)
        full = {team for team in sums if _is_full(team, sums[team], context)}
        _let_grow([d for d in held if d.has_grown and _may_grow(d, full)], context)

    def _sum_resting(self, held: frozenset[str], now: datetime) -> None:
        is_due = self._summed_at is None or now - self._summed_at >= _AGAIN
        if not is_due and held == self._held:
            return
        measured = Job.objects.filter(kept_bytes__gt=0)
        others = Job.objects.filter(
            Q(state__in=LIVE) | Q(finished_at__isnull=False, kept_bytes=None), disk_bytes__gt=0
        ).exclude(state__in=_HELD)
        self._resting = Counter(_by_team(measured, "kept_bytes")) + Counter(
            _by_team(others, "disk_bytes")
        )
        self._summed_at, self._held = now, held


def _by_team(jobs: QuerySet[Job], column: str) -> dict[int, int]:
    return dict(jobs.order_by().values("team_id").values_list("team_id", Sum(column)))


def _is_full(team_id: int, bytes_: int, context: TickContext) -> bool:
    known = context.team_disk(team_id)
    return known is not None and replace(known, bytes_=bytes_).is_full


def _may_grow(disk: HeldDisk, full: set[int]) -> bool:
    """A job of which nothing was known began while its team had room."""
    return disk.team_id not in full or disk.bytes_within is None


def _write_sums(sums: Mapping[int, int], context: TickContext) -> None:
    """A team that somebody holds is written in the next tick."""
    teams = context.around.teams
    changed = [team for team, row in teams.items() if row.disk_bytes != sums.get(team, 0)]
    if not changed:
        return
    with context.fence.transaction():
        rows = Team.objects.select_for_update(no_key=True, skip_locked=True).only("disk_bytes")
        held = list(rows.filter(pk__in=changed).order_by("pk"))
        for row in held:
            row.disk_bytes = sums.get(row.pk, 0)
        Team.objects.bulk_update(held, ["disk_bytes"])


def _let_grow(grown: Sequence[HeldDisk], context: TickContext) -> None:
    """A row that somebody holds is written in the next tick."""
    if not grown:
        return
    with context.fence.transaction():
        rows = Job.objects.filter(pk__in=[disk.job_id for disk in grown]).order_by("pk")
        held = rows.select_for_update(no_key=True, skip_locked=True).values_list("pk", flat=True)
        Job.objects.filter(pk__in=list(held)).update(disk_bytes_within=F("disk_bytes"))
