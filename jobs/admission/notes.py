"""What should the user of an accepted spec know, although nothing is wrong with it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jobs.admission.earlier_runs import EarlierRuns
from jobs.admission.pool_capacity import PoolCapacity
from jobs.admission.spec_checks import AdmittedSpec
from jobs.admission.team_records import TeamRecords
from jobs.spec.feasibility import counts_without_batch, worker_counts
from jobs.spec.job_spec import JobSpec
from jobs.spec.quantities import format_duration


def of(admitted: AdmittedSpec, *, records: TeamRecords, earlier: EarlierRuns) -> Iterator[str]:
    """Say it of one spec."""
    spec = admitted.spec
    if "batch" not in spec.model_fields_set:
        yield "batch is not given: the global batch is 32 and does not change."
    unused = counts_without_batch(worker_counts(spec.elastic), spec.batch.bounds())
    if unused:
        yield f"No allowed batch fits {_listed(unused)} workers: such sizes are never used."
    most = spec.elastic.max_workers * spec.resources.gpus_per_worker
    for pool in admitted.pools.values():
        if most > pool.gpus:
            where = "will never reach it" if len(admitted.pools) == 1 else "never reaches it there"
            yield (
                f"max_workers needs {most} GPUs; pool {pool.name} has {pool.gpus},"
                f" so the job {where}."
            )
        yield from _cut_short(spec, pool, records.fair_share[pool.pool_id].reclaim_seconds)
    team = records.team
    disk = admitted.pool.disk_limits.of_team(
        team.name, bytes_=team.disk_bytes, gibibytes=team.most_disk_gib
    )
    if disk.is_near:
        yield f"{disk.said()} {disk.remedy()}"
    yield from earlier.notes(spec, admitted.training)


def _cut_short(spec: JobSpec, pool: PoolCapacity, reclaim_seconds: float) -> Iterator[str]:
    """Find grace periods that end sooner while the job uses what another team is guaranteed."""
    elastic = spec.elastic
    patience = {
        "elastic.grace_period": elastic.grace_period,
        "elastic.registration_timeout": elastic.registration_timeout,
    }
    for name, seconds in patience.items():
        if seconds > reclaim_seconds:
            yield (
                f"{name} is {format_duration(seconds)}, but pool {pool.name} takes back what"
                f" another team is guaranteed within {format_duration(reclaim_seconds)}"
                " (reclaim_seconds): while the job borrows, it gets no more time than that."
            )


def _listed(counts: Sequence[int], most: int = 8) -> str:
    shown = ", ".join(map(str, counts[:most]))
    return shown if len(counts) <= most else f"{shown}, …"
