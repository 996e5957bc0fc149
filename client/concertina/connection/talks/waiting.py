"""What happens to a job until it is final?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from concertina.api.request import ApiRequest, segment
from concertina.connection.talks.steps import Pause, Talk
from concertina.states import FINAL_STATES

if TYPE_CHECKING:
    from collections.abc import Callable

    from concertina.documents import Event, Job

POLL_SECONDS: Final = 1.0


def until_final(
    job_id: str,
    *,
    on_event: Callable[[Event], None],
    on_progress: Callable[[Job], None],
) -> Talk[Job]:
    """Tell every event once and in order, the job about once a second; give the final job.

    The job is read before its events, so that when it is final, its last event has been told.
    """
    newest: int | None = None
    path = f"/jobs/{segment(job_id)}"
    while True:
        _, job = yield ApiRequest.of("GET", path)
        while True:
            _, page = yield ApiRequest.of("GET", f"{path}/events", params={"after": newest})
            if not page["items"]:
                break
            for event in page["items"]:
                newest = event["id"]
                on_event(event)
        on_progress(job)
        if job["state"] in FINAL_STATES:
            final: Job = job
            return final
        yield Pause(seconds=POLL_SECONDS)
