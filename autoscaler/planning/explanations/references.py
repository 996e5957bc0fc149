"""How does an explanation refer to jobs, teams and sizes of the pool it is derived from?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from autoscaler.planning.decisions.explanation import (
    JobRef,
    Jobs,
    Reserved,
    SizeOption,
    TeamShare,
    UserShare,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autoscaler.planning.allocation.size_values import SizeValues
    from autoscaler.planning.demand import Size
    from autoscaler.planning.fair_share import Reservation
    from autoscaler.planning.outcomes.outcome import AllocationOutcome, PoolPicture
    from autoscaler.planning.snapshot.cluster_state import PoolChange

NAMED_AT_MOST: Final = 3
_MINUTE: Final = 60.0


def job_ref(outcome: AllocationOutcome) -> JobRef:
    job = outcome.demand.job
    return JobRef(job_id=job.job_id, name=job.name, team=job.team)


def jobs(outcomes: Sequence[AllocationOutcome]) -> Jobs:
    """The first few by name, and how many more there are."""
    return Jobs(
        named=tuple(map(job_ref, outcomes[:NAMED_AT_MOST])),
        more=max(len(outcomes) - NAMED_AT_MOST, 0),
    )


def ended_jobs(changes: Iterable[PoolChange]) -> Jobs:
    """Jobs that are no longer in the snapshot: their events tell the name and the team."""
    refs = [JobRef(job_id=None, name=change.name, team=change.team) for change in changes]
    return Jobs(named=tuple(refs[:NAMED_AT_MOST]), more=max(len(refs) - NAMED_AT_MOST, 0))


def team_share(team: str, picture: PoolPicture) -> TeamShare:
    quota = picture.quotas[team]
    return TeamShare(
        team=team,
        held_gpus=picture.held_by_team[team],
        planned_gpus=picture.planned_by_team[team],
        guaranteed_gpus=quota.guaranteed_gpus,
        limit_gpus=quota.limit_gpus,
        entitled_gpus=picture.admission.entitled.get(team, 0),
    )


def user_share(outcome: AllocationOutcome, picture: PoolPicture) -> UserShare | None:
    """None: its user has no limit in its team."""
    job = outcome.demand.job
    room = picture.users.of(job)
    if room is None:
        return None
    return UserShare(
        limit_gpus=room.limit,
        held_gpus=picture.held_by_user[job.team, job.user],
        planned_gpus=picture.planned_by_user[job.team, job.user],
        elsewhere_gpus=room.elsewhere,
    )


def reserved(reservation: Reservation, picture: PoolPicture) -> Reserved:
    at = reservation.promised_at
    return Reserved(
        job=job_ref(picture.by_id[reservation.job_id]),
        gpus=reservation.gpus,
        saved_gpus=reservation.saved_gpus,
        since=reservation.since,
        promised_at=None if at is None else math.ceil(at / _MINUTE) * _MINUTE,
    )


def choices(outcome: AllocationOutcome, picture: PoolPicture) -> tuple[SizeOption, ...]:
    """The chosen size between its neighbours; for a job that gets nothing, its smallest size."""
    demand, size_values = outcome.demand, picture.split.size_values.get(outcome.job_id)
    sizes = (*(size_values.sizes if size_values else demand.sizes), *demand.larger)
    chosen = next(
        (i for i, s in enumerate(sizes) if outcome.size and s.workers == outcome.size.workers), None
    )
    around = sizes[:1] if chosen is None else sizes[max(chosen - 1, 0) : chosen + 2]
    return tuple(choice(size, size_values) for size in around)


def choice(size: Size, size_values: SizeValues | None) -> SizeOption:
    return SizeOption(
        workers=size.workers,
        global_batch_size=size.global_batch_size,
        samples_per_second=size.samples_per_second,
        speedup=size.speedup,
        value=size_values.value_of(size) if size_values else 0.0,
        efficiency=size.efficiency,
    )
