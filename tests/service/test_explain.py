"""Is GET /jobs/{id}/explain as promised?"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from autoscaler.control_loop.decision_document import document
from autoscaler.planning.cluster_state import Allocation
from autoscaler.planning.decisions import Action, Choice, Decision, Reason
from jobs.lifecycle import State
from jobs.models import Job
from tests.service.conftest import generation


def test_before_the_first_decision_the_job_speaks_for_itself(api: APIClient, job: Job) -> None:
    told = api.get(f"/api/v1/jobs/{job.id}/explain").json()
    assert told["reason"] == "pending_evaluation"
    assert told["message"] == "Waits for the next planning tick."
    assert told["decided_at"] is None
    assert told["choices"] == told["changes"] == []


def test_a_decision_is_told_with_its_words_and_numbers(api: APIClient, job: Job) -> None:
    at = timezone.now()
    decision = Decision(
        job_id=job.id,
        action=Action.KEEP,
        allocation=Allocation(workers_by_node=(("node-1", 2), ("node-2", 1)), global_batch_size=96),
        previous=None,
        reason=Reason.BEST_ALLOCATION,
        message="A 4th GPU would speed this job up by 6 %.",
        choices=(
            Choice(
                workers=3,
                global_batch_size=96,
                samples_per_second=900.0,
                speedup=2.5,
                value=float("-inf"),
            ),
        ),
        price=0.31,
        position=2,
    )
    Job.objects.filter(pk=job.pk).update(
        state=State.RUNNING, explanation=document(decision, decided_at=at)
    )
    told = api.get(f"/api/v1/jobs/{job.id}/explain").json()
    assert (told["action"], told["reason"]) == ("keep", "best_allocation")
    assert (told["workers"], told["global_batch_size"]) == (3, 96)
    assert (told["price"], told["position"], told["gpus_asked"]) == (0.31, 2, None)
    assert told["choices"][0]["speedup"] == 2.5
    assert told["choices"][0]["value"] is None
    assert told["decided_at"]


@pytest.mark.parametrize(
    ("state", "action", "speaks"),
    [
        ("queued", "wait", "planner"),
        ("queued", "keep", "job"),  # it failed while it ran, and waits out its back-off
        ("running", "keep", "planner"),
        ("stopping", "keep", "job"),
        ("paused", "wait", "job"),
        ("failed", "keep", "job"),
    ],
)
def test_a_decision_that_was_overtaken_explains_nothing(
    api: APIClient, job: Job, state: str, action: str, speaks: str
) -> None:
    decision = {"action": action, "reason": "planner", "message": "planner", "workers": 3}
    changes = {"state": state, "reason": "job", "message": "job", "explanation": decision}
    Job.objects.filter(pk=job.pk).update(**changes)
    told = api.get(f"/api/v1/jobs/{job.id}/explain").json()
    assert (told["reason"], told["message"]) == (speaks, speaks)
    assert (told["workers"] == 3) == (speaks == "planner")


def test_the_newest_changes_come_first_and_are_twenty_at_most(api: APIClient, job: Job) -> None:
    for number in range(1, 26):
        generation(job, number, message=f"n{number}", began_at=job.submitted_at + timedelta(number))
    changes = api.get(f"/api/v1/jobs/{job.id}/explain").json()["changes"]
    assert [change["message"] for change in changes] == [f"n{n}" for n in range(25, 5, -1)]
    assert changes[0]["reason"] == "job_arrived"
