"""Which workload and which clusters does a request mean? Its checked body, as simulation values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from autoscaler.control_loop.observe.for_planner.pool_view import pools
from autoscaler.control_loop.observe.for_planner.team_quotas import team_quotas
from autoscaler.installed_policies import installed_policies
from autoscaler.planning.snapshot.cluster_state import PlannedNode, PlannedPool, TeamQuota
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from autoscaler.simulation.api.errors import WorkloadRefused
from autoscaler.simulation.engine.comparison.candidates import Candidate
from autoscaler.simulation.engine.comparison.feasibility import endless_in
from autoscaler.simulation.engine.replay.settings import Failures, HotRescale, Settings
from autoscaler.simulation.engine.workload.importers.table import InvalidRecordingError
from autoscaler.simulation.engine.workload.recipes import MixName, Pattern, Recipe, trace_of
from autoscaler.simulation.engine.workload.recordings import RecordingFormat, read_recording
from autoscaler.simulation.engine.workload.trace import InvalidTraceError, Trace

AS_IS: Final = "as is"
_HOUR: Final = 3600.0


def trace_for(body: Mapping[str, Any]) -> Trace:
    """The workload: generated, uploaded, or what this cluster saw.

    Raises:
        WorkloadRefused: it cannot be read, or nothing is in it.
    """
    trace = _source(body)
    known = {pool.name for pool in pools() if pool.nodes}
    if body["trace"]["kind"] != "history":  # everything comes to the pool that is asked about
        trace = replace(trace, jobs=tuple(replace(j, pool=body["pool"]) for j in trace.jobs))
    jobs = tuple(job for job in trace.jobs if job.pool in known)
    if not jobs:
        raise WorkloadRefused("The workload has no jobs that could be replayed.")
    return replace(trace, jobs=jobs)


def _source(body: Mapping[str, Any]) -> Trace:
    source = body["trace"]
    if source["kind"] == "history":
        from autoscaler.simulation.api import history  # noqa: PLC0415 - it loads scipy

        return history.trace(days=source["days"])
    if source["kind"] == "generated":
        recipe = Recipe(
            pattern=Pattern(source["pattern"]),
            mix=MixName(source["mix"]),
            jobs=source["jobs"],
            load=source["load"],
            teams=tuple(quota.team for quota in _quotas(body)) or ("everybody",),
        )
        return trace_of(recipe, gpus=_gpus(_pool(body)), seed=body["seed"])
    try:
        chosen = RecordingFormat(source["format"])
        return read_recording(source["text"], chosen, name="uploaded").trace
    except (InvalidTraceError, InvalidRecordingError) as problem:
        raise WorkloadRefused(f"The trace cannot be read: {problem}.") from problem


def check_all_can_end(trace: Trace, candidates: Sequence[Candidate]) -> None:
    """A whole uploaded workload; jobs of the past may be stuck in another cluster, which one asks.

    Raises:
        WorkloadRefused: names a job that cannot, and why.
    """
    for candidate in candidates:
        if endless := endless_in(trace, candidate.settings):
            raise WorkloadRefused(
                f"Job {endless.job} can never end under {candidate.label}. {endless.why} Jobs of"
                f" which this is true: {endless.jobs:,}."
            )


def candidates_for(body: Mapping[str, Any]) -> tuple[Candidate, ...]:
    """Each policy on the cluster as it is and, where changes are asked for, on the changed one."""
    clusters = {AS_IS: _settings(body, tuple(pools()), tuple(team_quotas()))}
    name = change_name(body)
    if name:
        clusters[name] = _settings(body, _changed_pools(body), _changed_quotas(body))
    return tuple(
        Candidate(
            label=policy if len(clusters) == 1 else f"{policy}, {cluster}",
            settings=_under(settings, policy, body["pool"]),
        )
        for policy in body["policies"]
        for cluster, settings in clusters.items()
    )


def change_name(body: Mapping[str, Any]) -> str:
    """The changed cluster in a few words; empty where nothing is changed."""
    parts = []
    if body.get("add_gpus"):
        parts.append(f"{body['add_gpus']:+d} GPUs")
    parts += [f"{quota['team']} {quota['guaranteed_gpus']}" for quota in body.get("quotas", ())]
    return ", ".join(parts)


def _settings(
    body: Mapping[str, Any], planned: Sequence[PlannedPool], quotas: Sequence[TeamQuota]
) -> Settings:
    admission = AdmissionVariant(body["admission"])
    return Settings(
        pools=tuple(replace(pool, admission=admission) for pool in planned if pool.nodes),
        policies=installed_policies(),
        quotas=tuple(quotas),
        tick_seconds=body["tick_seconds"],
        rescale=HotRescale(stall=body["stall_seconds"]),
        failures=Failures(node_mtbf_seconds=_seconds(body.get("node_failure_hours"))),
        horizon_seconds=_seconds(body.get("horizon_hours")),
        statistical_efficiency=True,
        seed=body["seed"],
        keeps_history=True,
    )


def _seconds(hours: float | None) -> float | None:
    return None if hours is None else hours * _HOUR


def _under(settings: Settings, policy: str, pool: str) -> Settings:
    planned = tuple(
        replace(one, policy=policy) if one.name == pool else one for one in settings.pools
    )
    return replace(settings, pools=planned)


def _pool(body: Mapping[str, Any]) -> PlannedPool:
    return next(pool for pool in pools() if pool.name == body["pool"])


def _quotas(body: Mapping[str, Any]) -> list[TeamQuota]:
    return [quota for quota in team_quotas() if quota.pool == body["pool"]]


def _gpus(pool: PlannedPool) -> int:
    return sum(node.gpus for node in pool.nodes)


def _changed_pools(body: Mapping[str, Any]) -> list[PlannedPool]:
    return [
        replace(pool, nodes=resized(pool, body.get("add_gpus", 0)))
        if pool.name == body["pool"]
        else pool
        for pool in pools()
    ]


def resized(pool: PlannedPool, added: int) -> tuple[PlannedNode, ...]:
    """New GPUs come in nodes as large as the largest there is; GPUs go from the last node on.

    Raises:
        WorkloadRefused: more would go than there are.
    """
    if added >= 0:
        size = max((node.gpus for node in pool.nodes), default=added)
        sizes = [min(size, added - start) for start in range(0, added, size)] if added else []
        new = (PlannedNode(name=f"new-{number}", gpus=gpus) for number, gpus in enumerate(sizes, 1))
        return (*pool.nodes, *new)
    left = _gpus(pool) + added
    if left < 1:
        raise WorkloadRefused(f"Pool {pool.name} has {_gpus(pool)} GPUs: take away fewer.")
    kept = []
    for node in pool.nodes:
        kept.append(replace(node, gpus=min(node.gpus, left)))
        left -= kept[-1].gpus
        if not left:
            break
    return tuple(kept)


def _changed_quotas(body: Mapping[str, Any]) -> tuple[TeamQuota, ...]:
    changes = {quota["team"]: quota for quota in body.get("quotas", ())}
    kept = [q for q in team_quotas() if q.pool != body["pool"] or q.team not in changes]
    known = {quota.team: quota for quota in _quotas(body)}
    changed = [
        replace(
            known.get(team) or TeamQuota(team=team, pool=body["pool"], guaranteed_gpus=0), **change
        )
        for team, change in changes.items()
    ]
    return (*kept, *changed)
