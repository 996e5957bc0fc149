"""Can this spec ever run here? These checks need the existing teams, pools and quotas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings
from django.utils import timezone
from storage.models import HeldCheckpoint
from tenancy import image_rules
from tenancy.image_rules import ImageNotAllowed
from tenancy.models import Team

from autoscaler.job_network import JobNetwork
from jobs.admission import (
    code_snapshots,
    data_use,
    earlier_runs,
    secret_use,
    start_sources,
)
from jobs.admission.dependencies import resolving
from jobs.admission.dependencies.resolving import MeantDependency
from jobs.admission.pool_capacity import PoolCapacity
from jobs.admission.team_records import TeamRecords
from jobs.errors import Problem, SpecInvalid
from jobs.spec.feasibility import worker_counts
from jobs.spec.job_spec import JobSpec
from jobs.spec.quantities import format_size
from jobs.spec.rules import checking
from jobs.spec.timestamps import format_timestamp

_MAY_REACH: Final[Mapping[str, str]] = {
    JobNetwork.ISOLATED: "reach nobody",
    JobNetwork.LISTED: "may ask for `network: listed`",
    JobNetwork.EGRESS: "may ask for `network: egress`",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedSpec:
    """A spec with the team and the pool it belongs to."""

    spec: JobSpec
    team: Team
    pool: PoolCapacity
    gpus_limit: int | None  # the team's `limit_gpus` in this pool
    training: str  # equal for jobs that train the same
    start: HeldCheckpoint | None = None  # what it starts from, not stored yet
    depends_on: tuple[MeantDependency, ...] = ()
    template: Mapping[str, Any] = field(default_factory=dict)  # of which it began

    def resolved_spec(self, made: Mapping[str, str] | None = None) -> dict[str, object]:
        """Return it with the ids of jobs that it waits for; `made` has those of the same call."""
        spec = self.spec.resolved(team=self.team.name, pool=self.pool.name)
        entries = dict.fromkeys(one.stored(made or {}) for one in self.depends_on)
        return {**spec, "depends_on": [dict(one) for one in entries]}


def place_of(
    spec: JobSpec, *, teams: Mapping[str, Team], pools: Sequence[PoolCapacity]
) -> tuple[Team, PoolCapacity]:
    """Find the job's team among `teams` and its pool among `pools`.

    `teams` are those the caller may submit for: a foreign team and an unknown one get the same
    answer.

    Raises:
        SpecInvalid: with the code `unknown_team` or `unknown_pool`.
    """
    team, pool = _team(spec, teams), _pool(spec, pools)
    if isinstance(team, Problem) or isinstance(pool, Problem):
        raise SpecInvalid([found for found in (team, pool) if isinstance(found, Problem)])
    return team, pool


def admit(spec: JobSpec, *, records: TeamRecords, pool: PoolCapacity) -> AdmittedSpec:
    """Check what the job asks of its pool, and of what its team has.

    Raises:
        SpecInvalid: with the code `exceeds_limit`, or `invalid_spec` when the spec asks for what
            this platform does not offer.
    """
    spec, start, unsettled = _settled(spec, records)
    admitted = AdmittedSpec(
        spec=spec,
        start=start,
        team=records.team,
        pool=pool,
        gpus_limit=records.gpu_limits.get(pool.pool_id),
        training=earlier_runs.digest_of(spec),
        depends_on=resolving.meant_by(spec, records.named_jobs),
    )
    found = [
        *unsettled,
        *checking.problems_of(spec, records.rules.rules, pool=pool.name),
        *resolving.problems_of(spec, records.named_jobs),
        *_of_another_team(admitted),
        *_unavailable(admitted),
        *_not_allowed(admitted, records),
        *secret_use.problems_of(spec, records),
        *code_snapshots.problems_of(spec, records),
        *data_use.problems_of(spec, records),
        *_beyond_reach(spec, records),
        *_telling_nobody(spec, records),
        *_too_late(spec),
        *_too_large(admitted),
        *_too_large_for_one(admitted, records),
        *_too_much_memory(admitted),
        *_too_much_disk(admitted),
    ]
    if found:
        raise SpecInvalid(found)
    return admitted


def _settled(
    spec: JobSpec, records: TeamRecords
) -> tuple[JobSpec, HeldCheckpoint | None, Sequence[Problem]]:
    """Return the spec as it is, and what is wrong, where it cannot start as it wants to."""
    try:
        return *start_sources.settled(spec, records), ()
    except SpecInvalid as error:
        return spec, None, error.problems


def _team(spec: JobSpec, teams: Mapping[str, Team]) -> Team | Problem:
    if spec.team in teams:
        return teams[spec.team]
    if not spec.team and len(teams) == 1:
        return next(iter(teams.values()))
    return Problem(
        field="team",
        value=spec.team or None,
        problem="is not a team for which you can submit jobs" if spec.team else "is missing",
        remedy=f"Use one of: {', '.join(sorted(teams))}." if teams else "Ask to join a team.",
        code="unknown_team",
    )


def _pool(spec: JobSpec, pools: Sequence[PoolCapacity]) -> PoolCapacity | Problem:
    by_name = {pool.name: pool for pool in pools}
    if spec.pool in by_name:
        return by_name[spec.pool]
    if not spec.pool and len(pools) == 1:
        return pools[0]
    return Problem(
        field="pool",
        value=spec.pool or None,
        problem="is not a pool of this platform" if spec.pool else "is missing",
        remedy=f"Use one of: {', '.join(by_name)}." if pools else "Ask an admin to add a pool.",
        code="unknown_pool",
    )


def _of_another_team(admitted: AdmittedSpec) -> Iterator[Problem]:
    """Find that the pool serves one team, which is another one."""
    team, pool = admitted.team.name, admitted.pool
    if pool.teams is None or team in pool.teams:
        return
    yield Problem(
        field="pool",
        value=pool.name,
        problem=f"does not serve team {team}, which has no quota there: it is for one team;"
        f" {pool.why_not_all}",
        remedy="Use a pool in which your team has a quota, or ask an admin for one.",
    )


def _unavailable(admitted: AdmittedSpec) -> Iterator[Problem]:
    """Find what only containers have, asked of a platform whose workers are processes."""
    spec = admitted.spec
    if admitted.pool.platform_image:
        return
    if spec.image is not None:
        yield Problem(
            field="image",
            value=spec.image,
            problem="cannot be used: this platform's worker host runs processes, not images",
            remedy="Remove it; command starts on the machine itself, in workdir.",
        )
    if spec.resources.shm_size is not None:
        yield Problem(
            field="resources.shm_size",
            value=format_size(spec.resources.shm_size),
            problem="cannot be set: this platform's worker host runs processes, not images",
            remedy="Remove it; workers use the machine's own /dev/shm.",
        )


def _beyond_reach(spec: JobSpec, records: TeamRecords) -> Iterator[Problem]:
    """Find a network that cannot be given, or that the team may not have."""
    usual, *others = settings.CONCERTINA.worker_host.networks
    wanted, team = spec.network, records.team
    if wanted is None or wanted == usual:
        return
    if wanted not in others:
        yield Problem(
            field="network",
            value=wanted,
            problem="is not possible here: jobs are processes, which reach what their node reaches",
            remedy="Leave it out, or ask an admin for a pool whose jobs run in containers.",
        )
    elif wanted not in {JobNetwork.ISOLATED, team.network}:
        yield Problem(
            field="network",
            value=wanted,
            problem=f"is not for team {team.name}: its jobs {_MAY_REACH[team.network]}",
            remedy="Have the platform fetch data and code, as `data` and `code.git`, or ask an"
            " admin to let the team's jobs out.",
        )


def _telling_nobody(spec: JobSpec, records: TeamRecords) -> Iterator[Problem]:
    for number, name in enumerate(spec.notify.to if spec.notify is not None else ()):
        if name not in records.notification_targets:
            names = sorted(records.notification_targets)
            yield Problem(
                field=f"notify.to[{number}]",
                value=name,
                problem=f"is no webhook that is told of jobs of team {records.team.name}",
                remedy=f"Use one of: {', '.join(names)}." if names else "Ask a lead to add one.",
            )


def _not_allowed(admitted: AdmittedSpec, records: TeamRecords) -> Iterator[Problem]:
    image, pool = admitted.spec.image, admitted.pool
    if image is None or not pool.platform_image:
        return
    try:
        image_rules.check(
            image,
            team=admitted.team,
            platform_image=pool.platform_image,
            patterns=records.image_patterns,
        )
    except ImageNotAllowed as error:
        yield Problem(field="image", value=image, problem=error.problem, remedy=error.remedy)


def _too_late(spec: JobSpec) -> Iterator[Problem]:
    if spec.deadline is not None and spec.deadline <= timezone.now():
        yield Problem(
            field="deadline",
            value=format_timestamp(spec.deadline),
            problem="has passed",
            remedy="Use a moment in the future, or remove it.",
        )


def _too_large(admitted: AdmittedSpec) -> Iterator[Problem]:
    spec, pool = admitted.spec, admitted.pool
    per_worker = spec.resources.gpus_per_worker
    if per_worker > pool.gpus_of_largest_node:
        yield Problem(
            field="resources.gpus_per_worker",
            value=per_worker,
            problem=f"is more than the {pool.gpus_of_largest_node} GPUs of the largest node"
            f" of pool {pool.name}",
            remedy=f"Use at most {pool.gpus_of_largest_node}.",
            code="exceeds_limit",
        )
        return
    workers = _fewest_workers(spec)
    limit, whose = _limit(admitted)
    if workers * per_worker > limit:
        remedy = f"Use at most {limit // per_worker} workers as the smallest size."
        yield _smallest_is_too_large(spec, but=f"{whose} {limit}", remedy=remedy)


def _too_large_for_one(admitted: AdmittedSpec, records: TeamRecords) -> Iterator[Problem]:
    """A user's jobs hold at most so many GPUs together, so each needs no more than that."""
    spec, per_worker = admitted.spec, admitted.spec.resources.gpus_per_worker
    needed = _fewest_workers(spec) * per_worker
    if needed == 1 or (found := records.gpus_per_user) is None or needed <= found[0]:
        return
    most, team = found
    fitting = most // per_worker
    fewer = f"Use at most {fitting} workers as the smallest size, or have" if fitting else "Have"
    yield _smallest_is_too_large(
        spec,
        but="jobs of one person or token may hold"
        f" {most} at once in team {team.name} (max_gpus_per_user)",
        remedy=f"{fewer} a lead of team {team.name} or an admin raise the limit.",
    )


def _smallest_is_too_large(spec: JobSpec, *, but: str, remedy: str) -> Problem:
    workers, per_worker = _fewest_workers(spec), spec.resources.gpus_per_worker
    return Problem(
        field="elastic.min_workers",
        value=spec.elastic.min_workers,
        problem=f"needs at least {workers * per_worker} GPUs ({workers} workers of {per_worker}),"
        f" but {but}",
        remedy=remedy,
        code="exceeds_limit",
    )


def _fewest_workers(spec: JobSpec) -> int:
    bounds = spec.batch.bounds()
    counts = worker_counts(spec.elastic)
    return next(count for count in counts if bounds.smallest_for(count) is not None)


def _too_much_memory(admitted: AdmittedSpec) -> Iterator[Problem]:
    """A worker's share of a machine is a cap, so that nobody's worker takes another's memory."""
    wanted, gpus = admitted.spec.resources.memory, admitted.spec.resources.gpus_per_worker
    cap = admitted.pool.worker_memory.get(gpus)
    if wanted is None or cap is None or wanted <= cap.bytes_:
        return
    most = f"{cap.bytes_ >> 20}MiB"
    yield Problem(
        field="resources.memory",
        value=format_size(wanted),
        problem=f"is more than {most}, the share of a worker with {gpus} of the {cap.gpus} GPUs"
        f" of node {cap.node}",
        remedy=f"Use at most {most}, or more resources.gpus_per_worker; without it, a worker gets"
        " its share.",
        code="exceeds_limit",
    )


def _too_much_disk(admitted: AdmittedSpec) -> Iterator[Problem]:
    wanted, most = admitted.spec.resources.disk_per_job, admitted.pool.disk_limits.most_bytes
    if wanted is None or wanted <= most:
        return
    yield Problem(
        field="resources.disk_per_job",
        value=format_size(wanted),
        problem=f"is more than {format_size(most)}, the most that a job may write here",
        remedy=f"Use at most {format_size(most)}, or ask an admin to raise"
        " CONCERTINA_MOST_JOB_DISK_GB.",
        code="exceeds_limit",
    )


def _limit(admitted: AdmittedSpec) -> tuple[int, str]:
    pool, limit = admitted.pool, admitted.gpus_limit
    if limit is not None and limit < pool.gpus:
        return limit, f"the limit of team {admitted.team.name} in pool {pool.name} (limit_gpus) is"
    return pool.gpus, f"the number of GPUs in pool {pool.name} is"
