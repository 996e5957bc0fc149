"""Which jobs does a workload of the kind used with the Pollux simulator hold?

Columns: time (submission_time, submit_time) in seconds, application (one of the six measured ones,
by its full or first name), num_replicas (requests, num_workers) or any whole number for inelastic
policies, and, if there is one, name, batch_size and team (user). Every job is a full training run
of its application.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from autoscaler.simulation.engine.workload.applications import APPLICATIONS, batches_on
from autoscaler.simulation.engine.workload.importers.table import rows_of
from autoscaler.simulation.engine.workload.trace import Trace, TraceJob

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.job_terms import BatchRange
    from autoscaler.simulation.engine.truth.profiles import Profile
    from autoscaler.simulation.engine.workload.importers.table import TableRow

TIME: Final = ("time", "submission_time", "submit_time")
WORKERS: Final = ("num_replicas", "num_workers", "workers", "requests")
NEEDS: Final = (TIME, ("application",), WORKERS)
BY_NAME: Final = {
    name: profile
    for profile in APPLICATIONS
    for name in (profile.name, profile.name.split("-", maxsplit=1)[0])
}


def read_pollux(
    text: str,
    *,
    name: str = "pollux",
    pool: str = "default",
    max_workers: int = 64,
    fixes_batch: bool = False,
) -> Trace:
    """`fixes_batch`: jobs keep the recorded batch size, as the inelastic baselines do."""
    rows = rows_of(text, needs=NEEDS)
    return Trace(
        name=name,
        jobs=tuple(_job(row, pool, max_workers, fixes_batch=fixes_batch) for row in rows),
    )


def _job(row: TableRow, pool: str, max_workers: int, *, fixes_batch: bool) -> TraceJob:
    application = row.required("application")
    profile = BY_NAME.get(application)
    if profile is None:
        raise row.wrong("application", application, f"one of {', '.join(sorted(BY_NAME))}")
    workers = min(row.count_of(*WORKERS), max_workers)
    return TraceJob(
        name=row.text("name") or f"{application}-{row.number}",
        team=row.text("team", "user") or "everybody",
        pool=pool,
        submitted_at=row.number_of(*TIME),
        profile=profile,
        samples=profile.samples,
        batch=_fixed(row, profile) if fixes_batch else batches_on(profile, workers),
        declared_samples=round(profile.samples),
        max_workers=max_workers,
        requested_workers=workers,
    )


def _fixed(row: TableRow, profile: Profile) -> BatchRange:
    batch = row.count_of("batch_size")
    smallest, largest = profile.batch.minimum, profile.batch.maximum
    if not smallest <= batch <= largest:
        raise row.wrong("batch_size", str(batch), f"{smallest} to {largest} for {profile.name}")
    return replace(profile.batch, base=batch, minimum=batch, maximum=batch, multiple_of=1)
