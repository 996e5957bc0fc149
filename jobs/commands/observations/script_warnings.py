"""How are warnings about a script stored? Each sentence is stored once, with an event.

A coordinator that took over on another node has forgotten earlier warnings; they stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoscaler.job_vocabulary import EventKind, JobReason
from concertina_worker.protocol import MOST_WARNINGS
from jobs.commands.observations.reported_events import ReportedEvents
from jobs.commands.observations.reporting_job import ReportingJob


def store_warnings(
    job: ReportingJob, reported: Sequence[str], events: ReportedEvents
) -> dict[str, Any]:
    """Store the warnings, and return the changed columns of the job: mostly none."""
    new = [text for text in dict.fromkeys(reported) if text and text not in job.warnings]
    kept = new[: max(MOST_WARNINGS - len(job.warnings), 0)]
    for text in kept:
        events.add(EventKind.SCRIPT_WARNING, reason=JobReason.SCRIPT_WARNING, message=text)
    return {"warnings": [*job.warnings, *kept]} if kept else {}
