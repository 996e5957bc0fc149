"""Is GET /jobs/{id}/explain as promised?"""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.explanation import (
    Hindrance,
    JobRef,
    NextStep,
    Remedy,
    RemedyKind,
    Rival,
    Running,
    SizeOption,
    TeamShare,
)
from autoscaler.planning.decisions.plan import Action, Decision
from autoscaler.planning.explanations.sentences.remedy_sentences import render_remedy
from autoscaler.planning.snapshot.cluster_state import Allocation
from jobs.commands import quarantine, remedies
from jobs.commands.quarantine import Part
from jobs.lifecycle import JobState
from jobs.models import Job
from tests.service.conftest import SubmitJob, generation


def test_before_the_first_decision_the_job_speaks_for_itself(api: APIClient, job: Job) -> None:
    told = api.get(f"/api/v1/jobs/{job.id}/explain").json()
    assert told["reason"] == "pending_evaluation"
    assert told["message"] == "Waits for the next planning tick."
    assert told["decided_at"] is None
    assert told["choices"] == told["changes"] == []
    assert told["details"] is None


def test_a_decision_is_told_with_its_words_and_numbers(api: APIClient, job: Job) -> None:
    keep(job, kept(rival=JobRef(job_id="other-id", name="bert", team="vision")))
    told = api.get(f"/api/v1/jobs/{job.id}/explain").json()
    assert (told["action"], told["reason"]) == ("keep", "best_allocation")
    assert told["message"] == (
        "Keeps 3 workers: a 4th worker would speed it up by 6 %; the same GPU gives bert 31 %."
    )
    assert (told["workers"], told["global_batch_size"]) == (3, 96)
    assert (told["price"], told["position"], told["gpus_asked"]) == (0.31, None, None)
    assert told["choices"][0]["speedup"] == 2.5
    assert told["choices"][0]["efficiency"] == 0.75
    assert told["choices"][0]["value"] is None
    assert told["decided_at"]
    assert set(told["details"]) == {"kind", "hindrance", "next_step", "rival", "team", "user"}
    assert (told["details"]["kind"], told["details"]["hindrance"]) == ("running", "rival")


def test_a_job_that_is_left_out_of_plans_says_so_and_an_admin_reads_why(
    api: APIClient, admin_user: User, job: Job
) -> None:
    url = f"/api/v1/jobs/{job.id}/explain"
    assert api.get(url).json()["quarantine"] is None
    failing = {job.id: OverflowError("a number of another kind")}
    quarantine.update(Part.PLANNING, failing=failing, healed=(), now=timezone.now())
    told = api.get(url).json()
    assert told["reason"] == "planning_failed"
    assert "left out of plans" in told["message"]
    assert (told["quarantine"]["failures"], told["quarantine"]["error"]) == (1, None)
    assert "another kind" not in str(told)
    admin = APIClient()
    admin.force_login(admin_user)
    read = admin.get(url).json()["quarantine"]["error"]
    assert read == "OverflowError('a number of another kind')"


def test_what_it_cost_and_the_limits_that_its_spec_sets_are_told(
    api: APIClient, submit: SubmitJob
) -> None:
    bounded = submit(max_duration="10h", budget_gpu_hours=40)
    Job.objects.filter(pk=bounded.id).update(held_seconds=8.5 * 3600, gpu_seconds=41 * 3600)
    told = api.get(f"/api/v1/jobs/{bounded.id}/explain").json()
    assert told["gpu_hours"] == 41.0
    duration, budget = told["limits"]
    assert (duration["limit"], duration["unit"]) == ("max_duration", "hours")
    assert (duration["used"], duration["most"], duration["is_used_up"]) == (8.5, 10.0, False)
    assert (budget["used"], budget["most"], budget["is_used_up"]) == (41.0, 40.0, True)
    assert budget["message"].startswith("It has used 41.00 of 40 GPU-hours (`budget_gpu_hours`).")
    Job.objects.filter(pk=bounded.id).update(state=JobState.FAILED)
    assert api.get(f"/api/v1/jobs/{bounded.id}/explain").json()["limits"] == []


def test_members_read_another_teams_job_as_one_of_that_team(api: APIClient, job: Job) -> None:
    keep(job, kept(rival=JobRef(job_id="other-id", name="bert", team="language")))
    answer = api.get(f"/api/v1/jobs/{job.id}/explain")
    assert "the same GPU gives a job of team language 31 %." in answer.json()["message"]
    assert "bert" not in answer.content.decode()
    assert "other-id" not in answer.content.decode()


def test_admins_read_another_teams_job_by_name(admin_user: User, job: Job) -> None:
    client = APIClient()
    client.force_authenticate(admin_user)
    keep(job, kept(rival=JobRef(job_id="other-id", name="bert", team="language")))
    told = client.get(f"/api/v1/jobs/{job.id}/explain").json()
    assert "the same GPU gives bert 31 %." in told["message"]


def keep(job: Job, explanation: Running) -> None:
    """Write down that the job keeps what it has."""
    decision = Decision(
        job_id=job.id,
        action=Action.KEEP,
        allocation=Allocation(workers_by_node=(("node-1", 2), ("node-2", 1)), global_batch_size=96),
        previous=None,
        reason=explanation.reason,
    )
    decided = ExplainedDecision(decision=decision, explanation=explanation, team=job.team.name)
    at = timezone.now()
    Job.objects.filter(pk=job.pk).update(
        state=JobState.RUNNING,
        explanation=decided.document(decided_at=at),
        explanation_for_admins=decided.document_for_admins(decided_at=at),
    )


def kept(*, rival: JobRef) -> Running:
    lone = SizeOption(
        workers=3,
        global_batch_size=96,
        samples_per_second=900.0,
        speedup=2.5,
        value=float("-inf"),
        efficiency=0.75,
    )
    return Running(
        reason=JobReason.BEST_ALLOCATION,
        workers=3,
        choices=(lone,),
        price=0.31,
        team=TeamShare(
            team="vision",
            held_gpus=3,
            planned_gpus=3,
            guaranteed_gpus=2,
            limit_gpus=None,
            entitled_gpus=2,
        ),
        hindrance=Hindrance.RIVAL,
        next_step=NextStep(workers=4, gpus=1, gain=0.06),
        rival=Rival(job=rival, workers=2, gpus=1, gain=0.31),
        cooldown=None,
    )


def remedy_told(
    api: APIClient, job: Job, *, action: str, age_seconds: float
) -> dict[str, object] | None:
    found = Remedy(kind=RemedyKind.FREE_GPUS, gpus=2)
    at = timezone.now() - timedelta(seconds=age_seconds)
    document = {**asdict(found), "message": render_remedy(found, team="vision")}
    Job.objects.filter(pk=job.pk).update(state=JobState.QUEUED, explanation={"action": action})
    remedies.keep({job.id: document}, found_at=at)
    told: dict[str, object] | None = api.get(f"/api/v1/jobs/{job.id}/explain").json()["remedy"]
    return told


def test_a_waiting_job_is_told_what_would_start_it(api: APIClient, job: Job) -> None:
    told = remedy_told(api, job, action="wait", age_seconds=10)
    assert told is not None
    assert told["message"] == "Starts as soon as 2 more GPUs are free."
    assert (told["kind"], told["gpus"], told["workers"]) == ("free_gpus", 2, None)


def test_what_was_found_long_ago_or_before_a_start_is_not_told(api: APIClient, job: Job) -> None:
    assert remedy_told(api, job, action="wait", age_seconds=120) is None
    assert remedy_told(api, job, action="start", age_seconds=10) is None


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


def test_who_waits_for_data_is_told_what_follows_and_not_what_was_decided_before(
    api: APIClient, job: Job
) -> None:
    soonest = timezone.now() + timedelta(minutes=7)
    Job.objects.filter(pk=job.pk).update(
        state="queued",
        reason="preparing",
        message="Data digits: 34 % of 120 GB, about 6 min.",
        explanation={"action": "wait", "message": "Waits for 2 GPUs.", "explanation": {}},
        prediction={"start": {"p10": soonest.isoformat()}},
    )
    told = api.get(f"/api/v1/jobs/{job.id}/explain").json()
    assert (told["action"], told["reason"], told["position"]) == ("", "preparing", None)
    assert told["message"] == (
        "Data digits: 34 % of 120 GB, about 6 min. It takes no GPUs until then, and starts when"
        f" some are free: not before {soonest:%H:%M} UTC."
    )
    Job.objects.filter(pk=job.pk).update(prediction={})
    told = api.get(f"/api/v1/jobs/{job.id}/explain").json()
    assert told["message"].endswith("and starts when some are free.")
