"""Is a code answered that only a release before or after this one knows?"""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from autoscaler.job_vocabulary import StoredReason
from jobs.changes.transitions import move
from jobs.lifecycle import JobState
from jobs.models import Event, Job
from tests.service.conftest import generation

UNKNOWN = "moon_is_full"


@pytest.fixture
def old(job: Job) -> Job:
    """A job whose rows another release wrote."""
    Job.objects.filter(pk=job.id).update(reason=UNKNOWN)
    Event.objects.create(job=job, kind=UNKNOWN, reason=UNKNOWN, new_state=UNKNOWN[:10])
    generation(job, 1, reason=UNKNOWN)
    job.refresh_from_db()
    return job


@pytest.mark.parametrize("address", ["", "/generations", "/explain"])
def test_it_is_answered_as_it_stands(api: APIClient, old: Job, address: str) -> None:
    answer = api.get(f"/api/v1/jobs/{old.id}{address}")
    assert answer.status_code == 200
    told = answer.json()
    assert told.get("items", [told])[0]["reason"] == UNKNOWN


def test_an_event_of_an_unknown_kind_is_answered(api: APIClient, old: Job) -> None:
    *_, newest = api.get(f"/api/v1/jobs/{old.id}/events").json()["items"]
    assert (newest["kind"], newest["reason"]) == (UNKNOWN, UNKNOWN)


def test_it_is_handed_on_to_the_next_state(old: Job) -> None:
    assert move(old.id, {JobState.QUEUED}, JobState.PAUSED, reason=StoredReason(old.reason))
    old.refresh_from_db()
    assert (old.state, old.reason) == (JobState.PAUSED, UNKNOWN)
