"""What in a script is to be looked at: reported once, or again and again; shown once."""

from __future__ import annotations

from typing import Any

from concertina_worker.protocol import LONGEST_WARNING, MOST_WARNINGS
from jobs.models import Event, Job, Worker
from tests.service.syncing import report, sync


def told_of(job: Job) -> list[str]:
    events = Event.objects.filter(job=job, kind="script_warning").order_by("id")
    return list(events.values_list("message", flat=True))


def test_a_warning_is_on_the_job_and_in_its_explanation_and_an_event_tells_since_when(
    api: Any, job: Job, workers: list[Worker]
) -> None:
    for said in (["It sums."], ["It sums.", "It is long."], [], ["It is long."]):
        assert sync(job, report(warnings=said)).status_code == 200
    expected = ["It sums.", "It is long."]
    assert api.get(f"/api/v1/jobs/{job.id}").json()["warnings"] == expected
    assert api.get(f"/api/v1/jobs/{job.id}/explain").json()["warnings"] == expected
    assert told_of(job) == expected


def test_warnings_are_few_and_short_whatever_a_job_reports(job: Job, workers: list[Worker]) -> None:
    for start in (0, 100):
        said: list[object] = [f"{n} \0" + "x" * 5000 for n in range(start, start + 100)]
        assert sync(job, report(warnings=[*said, 7, None, ""])).status_code == 200
    job.refresh_from_db()
    assert len(job.warnings) == len(told_of(job)) == MOST_WARNINGS
    assert max(map(len, job.warnings)) <= LONGEST_WARNING
