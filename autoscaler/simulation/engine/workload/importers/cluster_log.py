"""Which jobs does the log of a cluster hold? A CSV with one line per job that ran.

The columns may have any of the names in which such logs are published: of Philly, as the simulator
of Pollux and the artifact of Helios have it, of Helios and Acme, and the sample of Alibaba's trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from autoscaler.simulation.engine.workload.importers.inelastic import (
    MOST_GPUS,
    NO_END,
    NO_GPU,
    LoggedJob,
    as_elastic,
)
from autoscaler.simulation.engine.workload.importers.recording import ImportTally, Recording
from autoscaler.simulation.engine.workload.importers.table import header_of, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autoscaler.simulation.engine.workload.importers.table import TableRow

SUBMIT: Final = (
    "submit_time",
    "submitted_time",
    "submission_time",
    "submitted_at",
    "submit",
    "timestamp",
    "time",
)
DURATION: Final = ("duration", "duration_seconds", "run_time", "runtime")
START: Final = ("start_time",)
END: Final = ("end_time",)
GPUS: Final = ("gpus", "num_gpus", "num_gpu", "gpu_num", "num_replicas")
TEAM: Final = ("team", "user", "vc", "virtual_cluster", "cluster")
NAME: Final = ("job_id", "jobid", "name", "job", "jobname")
NEEDS: Final = (SUBMIT, (*DURATION, *END), GPUS)


def read_log(text: str, *, name: str, gpus_per_node: int = 8) -> Recording:
    """The jobs that held GPUs for a minute at least, as elastic ones."""
    header = header_of(text)
    tally = ImportTally(f"A log of a cluster, by its columns {', '.join(_found(header))}")
    return as_elastic(_logged(text, header, tally), tally, name=name, gpus_per_node=gpus_per_node)


def _found(header: Sequence[str]) -> list[str]:
    """The columns that will be read."""
    groups: Sequence[Sequence[str]] = (SUBMIT, (*DURATION, *END), GPUS, TEAM, NAME)
    return [found for group in groups if (found := _first(group, header))]


def _first(names: Sequence[str], header: Sequence[str]) -> str | None:
    return next((name for name in names if name in header), None)


def _logged(text: str, header: Sequence[str], tally: ImportTally) -> Iterator[LoggedJob]:
    has_duration = _first(DURATION, header) is not None
    needs = NEEDS if has_duration else (*NEEDS, START)
    for row in rows_of(text, needs=needs):
        gpus = row.number_of(*GPUS, at_most=MOST_GPUS)
        seconds = _seconds(row) if gpus else 0.0
        if not gpus:
            tally.leave_out(NO_GPU)
        elif seconds is None:
            tally.leave_out(NO_END)
        else:
            yield LoggedJob(
                name=row.text(*NAME) or f"row-{row.number}",
                team=row.text(*TEAM) or "everybody",
                submitted_at=row.seconds_of(*SUBMIT),
                seconds=seconds,
                gpus=gpus,
            )


def _seconds(row: TableRow) -> float | None:
    """Return how long it ran; None for one that never started or never ended."""
    if row.text(*DURATION):
        return row.number_of(*DURATION)
    if row.text(*START) and row.text(*END):
        return row.seconds_of(*END) - row.seconds_of(*START)
    return None
