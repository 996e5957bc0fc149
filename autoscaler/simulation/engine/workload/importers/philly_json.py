"""Which jobs does Microsoft's log of Philly hold? JSON, as published: `cluster_job_log`.

A list of jobs with `jobid`, `submitted_time`, `user`, `vc` and `attempts`, each of which has
`start_time`, `end_time` and `detail`: machines with the GPUs that it held there. A job was tried
again when it failed; its attempts count together, with the most GPUs that one of them held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from autoscaler.simulation.engine.workload.importers.inelastic import (
    NO_END,
    LoggedJob,
    as_elastic,
)
from autoscaler.simulation.engine.workload.importers.json_text import parsed
from autoscaler.simulation.engine.workload.importers.recording import ImportTally, Recording
from autoscaler.simulation.engine.workload.importers.table import InvalidRecordingError, seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterator

NEEDS: Final = ("jobid", "submitted_time", "attempts")
_NO_TIME: Final = (None, "", "None")


def read_philly_json(text: str, *, name: str, gpus_per_node: int = 8) -> Recording:
    """The jobs that held GPUs for a minute at least, as elastic ones."""
    tally = ImportTally("The log of Philly in JSON")
    return as_elastic(_logged(parsed(text), tally), tally, name=name, gpus_per_node=gpus_per_node)


def _logged(document: Any, tally: ImportTally) -> Iterator[LoggedJob]:
    if not isinstance(document, list):
        raise InvalidRecordingError("expected a list of jobs, as in Philly's cluster_job_log")
    for number, job in enumerate(document, 1):
        try:
            logged = _logged_job(job)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise InvalidRecordingError(
                f"job {number} of the list: {type(problem).__name__} {problem}; expected an object"
                f" with {', '.join(NEEDS)}, as in Philly's cluster_job_log"
            ) from None
        if logged is None:
            tally.leave_out(NO_END)
        else:
            yield logged


def _logged_job(job: dict[str, Any]) -> LoggedJob | None:
    """None: none of its attempts has both times, or the last one was still running."""
    attempts = job["attempts"]
    ran = [_seconds_and_gpus(attempt) for attempt in attempts if _has_times(attempt)]
    if not ran or attempts[-1].get("end_time") in _NO_TIME:
        return None
    return LoggedJob(
        name=str(job["jobid"]),
        team=str(job.get("user") or job.get("vc") or "everybody"),
        submitted_at=seconds_of(str(job["submitted_time"])),
        seconds=sum(seconds for seconds, _ in ran),
        gpus=max(gpus for _, gpus in ran),
    )


def _has_times(attempt: dict[str, Any]) -> bool:
    return attempt.get("start_time") not in _NO_TIME and attempt.get("end_time") not in _NO_TIME


def _seconds_and_gpus(attempt: dict[str, Any]) -> tuple[float, int]:
    seconds = seconds_of(attempt["end_time"]) - seconds_of(attempt["start_time"])
    return seconds, sum(len(machine["gpus"]) for machine in attempt.get("detail") or ())
