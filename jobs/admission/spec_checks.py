"""Can this spec ever run here? These checks need the existing teams, pools and quotas."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
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
    """A spec with the team it belongs to and the pools in which it may run."""

    spec: JobSpec
    team: Team
    pools: Mapping[str, PoolCapacity]  # by the field that names each, in the order of the spec
    gpu_limits: Mapping[int, int | None]  # the team's `limit_gpus`, by pool
    training: str  # equal for jobs that train the same
    start: HeldCheckpoint | None = None  # what it starts from, not stored yet
    depends_on: tuple[MeantDependency, ...] = ()
    template: Mapping[str, Any] = field(default_factory=dict)  # of which it began

    @property
    def pool(self) -> PoolCapacity:
        """Return where it is at first; the planner may put it into another one."""
        return next(iter(self.pools.values()))

    def resolved_spec(self, made: Mapping[str, str] | None = None) -> dict[str, object]:
        """Return it with the ids of jobs that it waits for; `made` has those of the same call."""
        spec = self.spec.resolved(team=self.team.name, pool=self.pool.name)
        entries = dict.fromkeys(one.stored(made or {}) for one in self.depends_on)
        return {**spec, "depends_on": [dict(one) for one in entries]}


def place_of(
    spec: JobSpec, *, teams: Mapping[str, Team], pools: Sequence[PoolCapacity]
) -> tuple[Team, Mapping[str, PoolCapacity]]:
    """Find the job's team among `teams` and its pools among `pools`, by the field for each.

    `teams` are those the caller may submit for: a foreign team and an unknown one get the same
    answer.

    Raises:
        SpecInvalid: with the code `unknown_team` or `unknown_pool`.
    """
    team, found = _team(spec, teams), _pools(spec, pools)
    known = {field: one for field, one in found.items() if not isinstance(one, Problem)}
    if isinstance(team, Problem) or len(known) < len(found):
        together = (team, *found.values())
        raise SpecInvalid([one for one in together if isinstance(one, Problem)])
    return team, known


def admit(
    spec: JobSpec, *, records: TeamRecords, pools: Mapping[str, PoolCapacity]
) -> AdmittedSpec:
    """Check what the job asks of each of its pools, and of what its team has.

    Raises:
        SpecInvalid: with the code `exceeds_limit`, or `invalid_spec` when the spec asks for what
            this platform does not offer.
    """
    spec, start, unsettled = _settled(spec, records)
    admitted = AdmittedSpec(
        spec=spec,
        start=start,
        team=records.team,
        pools=pools,
        gpu_limits=records.gpu_limits,
        training=earlier_runs.digest_of(spec),
        depends_on=resolving.meant_by(spec, records.named_jobs),
    )
    found = [
        *unsettled,
        *checking.problems_of(
            spec, records.rules.rules, pools={field: one.name for field, one in pools.items()}
        ),
        *resolving.problems_of(spec, records.named_jobs),
        *_of_other_teams(admitted),
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


def _pools(spec: JobSpec, pools: Sequence[PoolCapacity]) -> Mapping[str, PoolCapacity | Problem]:
    by_name = {pool.name: pool for pool in pools}
    named = spec.pool_fields
    if not named and len(pools) == 1:
        return {"pool": pools[0]}
    return {
        field: by_name.get(name) or _unknown_pool(field, name, by_name)
        for field, name in (named or {"pool": ""}).items()
    }


def _unknown_pool(field: str, name: str, known: Collection[str]) -> Problem:
    return Problem(
        field=field,
        value=name or None,
        problem="is not a pool of this platform" if name else "is missing",
        remedy=f"Use one of: {', '.join(known)}." if known else "Ask an admin to add a pool.",
        code="unknown_pool",
    )


def _of_other_teams(admitted: AdmittedSpec) -> Iterator[Problem]:
    """Find pools that serve one team, which is another one."""
    team = admitted.team.name
    for where, pool in admitted.pools.items():
        if pool.teams is not None and team not in pool.teams:
            yield Problem(
                field=where,
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
    """Find pools that it fits in no size; the planner may put it into any of its pools."""
    for pool in admitted.pools.values():
        yield from _too_large_for(pool, admitted)


def _too_large_for(pool: PoolCapacity, admitted: AdmittedSpec) -> Iterator[Problem]:
    spec = admitted.spec
    per_worker = spec.resources.gpus_per_worker
    if per_worker > pool.gpus_of_largest_node:
        yield Problem(
            field="resources.gpus_per_worker",
            value=per_worker,
            problem=f"is more than the {pool.gpus_of_largest_node} GPUs of the largest node"
            f" of pool {pool.name}",
            remedy=f"Use at most {pool.gpus_of_largest_node}{_or_leave_out(admitted)}.",
            code="exceeds_limit",
        )
        return
    workers = _fewest_workers(spec)
    limit, whose = _limit(admitted, pool)
    if workers * per_worker > limit:
        remedy = f"Use at most {limit // per_worker} workers as the smallest size"
        remedy += f"{_or_leave_out(admitted)}."
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
    caps = (pool.worker_memory.get(gpus) for pool in admitted.pools.values())
    known = [cap for cap in caps if cap is not None]
    if wanted is None or not known:
        return
    cap = min(known, key=lambda one: one.bytes_)
    if wanted <= cap.bytes_:
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


def _or_leave_out(admitted: AdmittedSpec) -> str:
    return ", or leave the pool out of pools" if len(admitted.pools) > 1 else ""


def _limit(admitted: AdmittedSpec, pool: PoolCapacity) -> tuple[int, str]:
    limit = admitted.gpu_limits.get(pool.pool_id)
    if limit is not None and limit < pool.gpus:
        return limit, f"the limit of team {admitted.team.name} in pool {pool.name} (limit_gpus) is"
    return pool.gpus, f"the number of GPUs in pool {pool.name} is"
