"""What happens to a job until it is final?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from concertina.states import FINAL_STATES

if TYPE_CHECKING:
    from collections.abc import Callable

    from concertina.client import Client
    from concertina.documents import Event, Job

POLL_SECONDS: Final = 1.0


def until_final(
    client: Client,
    job_id: str,
    *,
    on_event: Callable[[Event], None],
    on_progress: Callable[[Job], None],
) -> Job:
    """Tell every event once and in order, the job about once a second; give the final job.

    The job is read before its events, so that when it is final, its last event has been told.
    """
    patient = client.patient()
    newest: int | None = None
    while True:
        job = patient.job(job_id)
        for event in patient.events(job_id, after=newest):
            newest = event["id"]
            on_event(event)
        on_progress(job)
        if job["state"] in FINAL_STATES:
            return job
        patient.clock.sleep(POLL_SECONDS)
