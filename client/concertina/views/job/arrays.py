"""What do arrays of jobs look like, and the trials of one?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from concertina import words
from concertina.views.fitting import FittingTable
from concertina.views.jobs import state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from concertina.documents import Job, JobArray, JobDetail


def array_lines(array: JobArray) -> str:
    """Return which array it is, and how its jobs stand."""
    return f"{array['team']}/{array['name']} ({array['id']}): {_states(array)}."


def arrays_table(arrays: Iterable[JobArray]) -> FittingTable:
    """One row for each array."""
    table = FittingTable(
        *("ID", "ARRAY", "TRIALS", "AT ONCE", "AGE", "JOBS"), first_to_go=("AGE", "AT ONCE")
    )
    for array in arrays:
        table.add_row(
            array["id"],
            f"{array['team']}/{array['name']}",
            str(array["trials"]),
            words.NOTHING if array["max_running"] is None else str(array["max_running"]),
            words.age(array["submitted_at"]),
            _states(array),
        )
    return table


def trials_table(array: JobArray, jobs: Iterable[Job]) -> FittingTable:
    """One row for each job, with the values that set it apart."""
    names = [name.upper() for name in array["parameters"]]
    table = FittingTable(
        *("ID", "JOB", *names, "STATE", "DONE", "METRIC"), first_to_go=("ID", "DONE")
    )
    for job in jobs:
        values = (job["trial"] or {"values": {}})["values"]
        table.add_row(
            job["id"],
            job["name"],
            *(_value(values.get(name)) for name in array["parameters"]),
            state(job["state"]),
            words.percent(job["progress"]),
            words.metric(job),
        )
    return table


def trial_rows(job: JobDetail) -> Iterator[tuple[str, str]]:
    """Yield what a table of facts says of a job that is a trial; of another nothing."""
    if (trial := job.get("trial")) is not None:
        pairs = sorted(trial["values"].items())
        values = ", ".join(f"{name} {_value(value)}" for name, value in pairs)
        yield "Trial", f"{trial['number']} of array {job['array']}: {values}"


def _states(array: JobArray) -> str:
    counted = [f"{jobs} {name}" for name, jobs in sorted(array["states"].items())]
    return ", ".join(counted) or "all jobs are deleted"


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
