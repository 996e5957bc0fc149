"""Is POST /jobs/{id}/cancel, /pause and /resume as promised?"""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from jobs.lifecycle import JobState
from jobs.models import Event, Job
from tests.service.conftest import run

ACTIVE = ("starting", "running", "rescaling")

# (state, ends_as) -> verb -> (state, ends_as) or the code of the refusal
OUTCOMES: dict[tuple[str, str], dict[str, tuple[str, str] | int]] = {
    ("queued", ""): {"cancel": ("cancelled", ""), "pause": ("paused", ""), "resume": 409},
    ("paused", ""): {"cancel": ("cancelled", ""), "pause": 409, "resume": ("queued", "")},
    **{
        (state, ""): {
            "cancel": ("stopping", "cancelled"),
            "pause": ("stopping", "paused"),
            "resume": 409,
        }
        for state in ACTIVE
    },
    ("stopping", "paused"): {
        "cancel": ("stopping", "cancelled"),
        "pause": ("stopping", "paused"),
        "resume": ("stopping", "queued"),
    },
    ("stopping", "queued"): {
        "cancel": ("stopping", "cancelled"),
        "pause": ("stopping", "paused"),
        "resume": ("stopping", "queued"),
    },
    ("stopping", "cancelled"): {
        "cancel": ("stopping", "cancelled"),
        "pause": 409,
        "resume": 409,
    },
    ("stopping", "failed"): {"cancel": 409, "pause": 409, "resume": 409},
    ("completed", ""): {"cancel": 409, "pause": 409, "resume": 409},
    ("failed", ""): {"cancel": 409, "pause": 409, "resume": 409},
    ("cancelled", ""): {"cancel": 409, "pause": 409, "resume": 409},
}


@pytest.mark.parametrize("verb", ["cancel", "pause", "resume"])
@pytest.mark.parametrize("before", OUTCOMES)
def test_what_a_wish_does_depends_on_the_state(
    api: APIClient, job: Job, before: tuple[str, str], verb: str
) -> None:
    Job.objects.filter(pk=job.pk).update(state=before[0], ends_as=before[1])
    answer = api.post(f"/api/v1/jobs/{job.id}/{verb}")
    job.refresh_from_db()
    expected = OUTCOMES[before][verb]
    if isinstance(expected, int):
        assert (answer.status_code, answer.json()["code"]) == (expected, "illegal_transition")
        assert f"The job is {before[0]};" in answer.json()["message"]
        assert (job.state, job.ends_as) == before
    else:
        assert answer.status_code == 202
        assert (job.state, job.ends_as) == expected


def test_who_and_why_are_written_down(api: APIClient, job: Job) -> None:
    answer = api.post(
        f"/api/v1/jobs/{job.id}/pause", {"reason": "make room\nfor the demo."}, format="json"
    )
    assert answer.json()["message"] == "Paused by vision/ci: make room for the demo."
    event = Event.objects.filter(job=job).latest("id")
    assert (event.old_state, event.new_state) == ("queued", "paused")
    assert (event.reason, event.message) == ("paused_by_user", answer.json()["message"])


def test_a_changed_mind_while_stopping_is_an_event_too(api: APIClient, job: Job) -> None:
    run(job, workers=1)
    api.post(f"/api/v1/jobs/{job.id}/pause")
    api.post(f"/api/v1/jobs/{job.id}/cancel")
    event = Event.objects.filter(job=job).latest("id")
    assert event.kind == "stop_requested"
    assert event.data == {"ends_as": "cancelled", "instead_of": "paused"}


@pytest.mark.parametrize("verb", ["cancel", "pause", "resume"])
def test_a_foreign_job_cannot_be_touched_or_seen(
    foreign_api: APIClient, job: Job, verb: str
) -> None:
    answer = foreign_api.post(f"/api/v1/jobs/{job.id}/{verb}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    job.refresh_from_db()
    assert job.state == JobState.QUEUED


@pytest.mark.parametrize("verb", ["cancel", "pause", "resume"])
def test_steering_needs_a_token_the_right_method_and_a_sound_body(
    api: APIClient, job: Job, verb: str
) -> None:
    url = f"/api/v1/jobs/{job.id}/{verb}"
    assert APIClient().post(url).status_code == 401
    assert api.get(url).status_code == 405
    assert api.post(url, "{", content_type="application/json").status_code == 400
    assert api.post(url, {"reason": "x" * 501}, format="json").status_code == 400
    assert api.post(url, {"reason": "a\0"}, format="json").status_code == 400
    assert api.post(url, [1], format="json").status_code == 400


@pytest.mark.django_db(transaction=True)
def test_a_wish_wakes_the_control_loop(api: APIClient, job: Job) -> None:
    from jobs.changes.demand_signal import demand_changed  # noqa: PLC0415 - beside its only use

    woken: list[str] = []

    def note(job_id: str, **_: object) -> None:
        woken.append(job_id)

    demand_changed.connect(note)
    try:
        api.post(f"/api/v1/jobs/{job.id}/cancel")
    finally:
        demand_changed.disconnect(note)
    assert woken == [job.id]


@pytest.mark.parametrize("reason", [1, 1.5, True, ["a"], {"a": "b"}])
def test_a_reason_that_is_no_text_is_refused(api: APIClient, job: Job, reason: Any) -> None:
    answer = api.post(f"/api/v1/jobs/{job.id}/cancel", {"reason": reason}, format="json")
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "reason")
