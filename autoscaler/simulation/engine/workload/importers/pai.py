"""Which jobs does Alibaba's trace of PAI hold? Its table of tasks, `pai_task_table.csv`.

It is published without a header line, as `cluster-trace-gpu-v2020`. A job has one task or several,
each with so many instances; `plan_gpu` is what one instance holds, in percent of a GPU. The table
says when tasks began, not when their job was submitted, so a job is submitted when it began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from autoscaler.simulation.engine.workload.importers.inelastic import (
    MOST_GPUS,
    NO_END,
    NO_GPU,
    LoggedJob,
    as_elastic,
)
from autoscaler.simulation.engine.workload.importers.recording import ImportTally, Recording
from autoscaler.simulation.engine.workload.importers.table import (
    InvalidRecordingError,
    header_of,
    rows_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from autoscaler.simulation.engine.workload.importers.table import TableRow

COLUMNS: Final = (
    *("job_name", "task_name", "inst_num", "status", "start_time", "end_time"),
    *("plan_cpu", "plan_mem", "plan_gpu", "gpu_type"),
)
NEEDS: Final = tuple(
    (name,) for name in COLUMNS if name not in {"plan_cpu", "plan_mem", "gpu_type"}
)
_STATES: Final = {"terminated", "failed", "running", "waiting"}
_STATE_AT: Final = {
    10: 3,
    6: 3,
    9: 5,
}  # in tasks, jobs and instances, by how many columns they have
_OTHER_TABLES: Final = {6: "pai_job_table", 9: "pai_instance_table"}


@dataclass(slots=True)
class _Tasks:
    """What is known of a job's tasks on GPUs, up to now."""

    gpus: float = 0.0
    began_at: float = 0.0
    ended_at: float = 0.0
    has_ended: bool = True


def has_no_header(first_line: Sequence[str]) -> bool:
    """True for the first line of a table of PAI as it is published, in lower case."""
    place = _STATE_AT.get(len(first_line))
    return place is not None and first_line[place] in _STATES


def read_pai(text: str, *, name: str, gpus_per_node: int = 8) -> Recording:
    """The jobs that held GPUs for a minute at least, as elastic ones; users are not in the table.

    Raises:
        InvalidRecordingError: it is another of the trace's tables.
    """
    first = header_of(text)
    if has_no_header(first) and len(first) in _OTHER_TABLES:
        raise InvalidRecordingError(
            f"this looks like {_OTHER_TABLES[len(first)]} of Alibaba's PAI, which does not tell how"
            " many GPUs a job held: give pai_task_table.csv"
        )
    header = COLUMNS if has_no_header(first) else None
    tally = ImportTally("The table of tasks of Alibaba's PAI")
    jobs = _jobs_of(rows_of(text, needs=NEEDS, header=header), tally)
    return as_elastic(jobs, tally, name=name, gpus_per_node=gpus_per_node)


def _jobs_of(rows: Iterable[TableRow], tally: ImportTally) -> Iterator[LoggedJob]:
    jobs: dict[str, _Tasks] = {}
    for row in rows:
        _add(jobs.setdefault(row.required("job_name"), _Tasks()), row)
    for name, tasks in jobs.items():
        if not tasks.gpus:
            tally.leave_out(NO_GPU)
        elif not tasks.has_ended:
            tally.leave_out(NO_END)
        else:
            yield LoggedJob(
                name=name,
                team="everybody",
                submitted_at=tasks.began_at,
                seconds=tasks.ended_at - tasks.began_at,
                gpus=tasks.gpus,
            )


def _add(tasks: _Tasks, row: TableRow) -> None:
    """A task without GPUs, such as a parameter server, changes nothing."""
    percent = row.number_of("plan_gpu", at_most=100 * MOST_GPUS) if row.text("plan_gpu") else 0.0
    if not percent:
        return
    if not (row.text("inst_num") and row.text("start_time") and row.text("end_time")):
        tasks.gpus, tasks.has_ended = tasks.gpus or 1.0, False
        return
    began_at, ended_at = row.number_of("start_time"), row.number_of("end_time")
    is_first = tasks.ended_at == tasks.began_at == 0
    tasks.began_at = began_at if is_first else min(tasks.began_at, began_at)
    tasks.ended_at = max(tasks.ended_at, ended_at)
    tasks.gpus += row.number_of("inst_num", at_most=MOST_GPUS) * percent / 100
