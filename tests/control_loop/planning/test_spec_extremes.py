"""Can every job that admission accepts be observed, planned, explained, predicted and listed?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from cluster.models import Pool
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.renderers import JSONRenderer
from tenancy.access.principal import Principal
from tenancy.models import Team

from autoscaler.control_loop.observe.for_planner.histories import Histories
from autoscaler.control_loop.observe.for_planner.planned_job import planned_job
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.planning import planner
from autoscaler.planning.decisions import invariants
from autoscaler.planning.explanations.remedy_search import RemedySearch
from autoscaler.planning.explanations.sentences.remedy_sentences import render_remedy
from autoscaler.planning.policies import BUILT_IN
from autoscaler.planning.snapshot import cluster_state as planning
from autoscaler.simulation.engine.prediction.prediction import Effort, predict
from jobs.api.serializers import JobDetailSerializer
from jobs.models import Job
from jobs.queries import visible_jobs
from jobs.spec import stored_spec
from jobs.spec.job_spec import JobSpec, parse
from tests import campaigns, spec_extremes

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
QUICK = Effort(planned_jobs=60, replays=1, fewest_replays=1, fewest_plans=3, horizon_seconds=900)
NUMBERS = dict(spec_extremes.fields())

POOL = planning.PlannedPool(
    name="default",
    nodes=(planning.PlannedNode(name="n1", gpus=8), planning.PlannedNode(name="n2", gpus=64)),
)
SPEEDS = st.sampled_from([1e-9, 1e-3, 1.0, 1e9])
BATCHES = st.sampled_from([1, 64, 10**9, 2**31 - 1])


@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_of_a_spec_has_both_bounds(name: str) -> None:
    spec_extremes.drawn(NUMBERS[name])


@st.composite
def measured(draw: st.DrawFn) -> list[planning.StepTime]:
    """What a job's workers may have told of its speed."""
    return [
        planning.StepTime(
            workers=draw(st.sampled_from([1, 2, 10_000])),
            nodes=1,
            global_batch_size=draw(BATCHES),
            steps=draw(st.sampled_from([1, 2**31 - 1])),
            step_seconds=draw(SPEEDS),
            gpu_type="",
        )
        for _ in range(draw(st.integers(0, 3)))
    ]


@st.composite
def jobs(draw: st.DrawFn) -> tuple[LiveJob, list[planning.StepTime]]:
    """A job that waits, or holds its smallest size, with what is known of it."""
    document = draw(spec_extremes.documents())
    job = Job(
        id=draw(st.text("abcdefgh23456789", min_size=10, max_size=10)),
        name="extreme",
        team=Team(name=draw(st.sampled_from(["vision", "language"]))),
        pool=Pool(name="default", gpu_type=""),
        spec=document,
        resolved_spec=json.loads(json.dumps(parse(document).resolved(team="t", pool="default"))),
        priority=parse(document).priority,
        mode=parse(document).elastic.mode,
        submitted_at=NOW,
        samples=draw(st.sampled_from([0, 1, 2**63 - 1])),
        total_samples=draw(st.sampled_from([None, 0, 1, 2**63 - 1])),
        samples_per_second=draw(st.sampled_from([0.0, 1e-300, 1.0, 1e18])),
        epoch=draw(st.sampled_from([0.0, 1e-300, 1e18])),
        noise_scale=draw(st.sampled_from([None, 1e-300, 1.0, 1e15, float("inf")])),
        model_bytes=draw(st.sampled_from([0, 1, 2**63 - 1])),
        batch_limits={"": draw(BATCHES)} if draw(st.booleans()) else {},
    )
    return _view(job), draw(measured())


def _view(job: Job) -> LiveJob:
    stored = stored_spec.read(job.resolved_spec)
    assert stored.unreadable == ()
    return LiveJob(
        job=job,
        spec=stored.spec,
        assignment=None,
        generation=None,
        workers=(),
        coordinator=None,
    )


def _holding(job: planning.PlannedJob) -> planning.PlannedJob:
    held = planning.Allocation(
        workers_by_node=(("n2", min(job.min_workers, 64 // job.gpus_per_worker)),),
        global_batch_size=max(job.batch.base, 1),
    )
    return replace(job, phase=planning.JobPhase.ACTIVE, allocation=held, started_at=NOW.timestamp())


def _state(
    drawn: list[tuple[LiveJob, list[planning.StepTime]]], *, policy: str, first_runs: bool
) -> planning.ClusterState:
    known = {view.id: rows for view, rows in drawn}
    views = {view.id: view for view, _ in drawn}
    histories = Histories(measurements=known)
    seen = [planned_job(view, histories.of_job(view), NOW) for view in views.values()]
    if first_runs:
        seen[0] = _holding(seen[0])
    pool = replace(POOL, policy=policy, dollars_per_gpu_hour=2.0)
    return planning.ClusterState(now=NOW.timestamp(), pools=(pool,), quotas=(), jobs=tuple(seen))


@settings(campaigns.examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    drawn=st.lists(jobs(), min_size=1, max_size=3),
    policy=st.sampled_from(sorted(BUILT_IN.names)),
    first_runs=st.booleans(),
)
def test_whatever_admission_accepts_can_be_planned_explained_and_predicted(
    drawn: list[tuple[LiveJob, list[planning.StepTime]]],
    policy: str,
    first_runs: bool,  # noqa: FBT001 - hypothesis hands it over by name
) -> None:
    state = _state(drawn, policy=policy, first_runs=first_runs)
    plan = planner.plan(state)
    assert {decision.job_id for decision in plan.decisions} == {job.job_id for job in state.jobs}
    assert invariants.check(state, plan) == ()
    for decision in plan.decisions:
        explained = ExplainedDecision.of(decision, plan, team="vision")
        document = explained.document(decided_at=NOW)
        json.dumps(document, allow_nan=False)
        assert document["message"]
    assert set(predict(state, effort=QUICK)) == {job.job_id for job in state.jobs}
    search = RemedySearch(state=state, planned=plan, planner=planner.plan)
    for job in state.jobs:
        remedy = search.remedy_for(job.job_id)
        assert remedy is None or render_remedy(remedy, team=job.team)


@settings(campaigns.examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=jobs(), state=st.sampled_from(["queued", "running", "completed"]))
def test_whatever_admission_accepts_can_be_listed(
    drawn: tuple[LiveJob, list[planning.StepTime]], state: str
) -> None:
    job = drawn[0].job
    job.state = state
    visible_jobs.as_new(job).history = dict.fromkeys(("stalls", "longest_stall", "lost_work"), 1e18)
    visible_jobs.with_rights(Principal(name="ada", seen={}), job)
    listed: Mapping[str, Any] = JobDetailSerializer(job).data
    assert json.loads(JSONRenderer().render(listed))["id"] == job.id


def test_a_spec_reads_back_as_it_was_accepted() -> None:
    document = {"name": "a", "command": ["true"], "resources": {"memory": "1024TiB"}}
    resolved = parse(document).resolved(team="vision", pool="default")
    assert stored_spec.read(resolved).spec == JobSpec.from_resolved(resolved)
