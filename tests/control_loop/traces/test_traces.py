"""What do the traces of jobs and of ticks show, as a collector gets them?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoCaptureOnCommitCallbacks
from tracing import sending
from tracing.spans import SpanPlace

from jobs.commands import control
from jobs.models import Job
from tests.control_loop.world import World
from tests.tracing.receiver import OtlpReceiver, ReceivedSpan, traced

SUBMISSION = SpanPlace(trace_id="4bf92f3577b34da6a3ce929d0e0e4736", span_id="00f067aa0ba902b7")
OTHER = SpanPlace(trace_id="5bf92f3577b34da6a3ce929d0e0e4736", span_id="10f067aa0ba902b7")


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[OtlpReceiver]:
    with traced(monkeypatch) as ready:
        yield ready


def traced_job(world: World, name: str = "digits", *, place: SpanPlace = SUBMISSION) -> Job:
    job = world.job(name)
    job.trace = place.header
    job.save(update_fields=["trace"])
    return job


def only(spans: list[ReceivedSpan], name: str) -> ReceivedSpan:
    [found] = [one for one in spans if one.name == name]
    return found


def test_a_trace_leads_from_the_queue_over_plan_and_start_to_the_first_generation_and_on(
    world: World,
    receiver: OtlpReceiver,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    job = traced_job(world)
    with django_capture_on_commit_callbacks(execute=True):
        coordinator = world.running(job, 2)
        world.wish(job, 3)
        world.tick()
        coordinator.train()
    spans = receiver.wait_for(SUBMISSION.trace_id, "rescaling", "plan")
    names = [one.name for one in spans]
    assert sorted(names) == sorted(
        [
            *("queued", "plan", "starting", "start coordinator", "start workers"),
            *("running", "plan", "rescaling", "start workers"),
        ]
    )
    starting = only(spans, "starting")
    first, joining = (one for one in spans if one.name == "start workers")
    assert only(spans, "start coordinator").parent_id == first.parent_id == starting.span_id
    assert (first.attributes["concertina.workers"], joining.attributes["concertina.workers"]) == (
        2,
        1,
    )
    assert joining.parent_id == SUBMISSION.span_id
    for name in ("queued", "starting", "running", "rescaling"):
        assert only(spans, name).parent_id == SUBMISSION.span_id
    assert starting.attributes == {
        "concertina.job": job.id,
        "concertina.pool_id": job.pool_id,
        "concertina.next_state": "running",
        "concertina.reason": starting.attributes["concertina.reason"],
        "concertina.revision": 1,
        "concertina.generation": 1,
        "concertina.stall_seconds": starting.attributes["concertina.stall_seconds"],
        "concertina.transfer_seconds": starting.attributes["concertina.transfer_seconds"],
        "concertina.lost_steps": 0,
    }
    assert starting.ended >= only(spans, "queued").ended


def test_a_tick_is_a_trace_of_its_own_which_plans_link_to(
    world: World,
    receiver: OtlpReceiver,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        world.wish(traced_job(world), 1)
        world.wish(traced_job(world, "letters", place=OTHER), 1)
        world.tick()
    tick = receiver.wait_for_one("tick")
    plans = [only(receiver.wait_for(one.trace_id, "plan"), "plan") for one in (SUBMISSION, OTHER)]
    assert {one.linked for one in plans} == {(tick.span_id,)}
    assert set(tick.linked) == {one.span_id for one in plans}
    assert tick.attributes == {"concertina.live_jobs": 2, "concertina.start": 2}
    whole, *parts = receiver.wait_for(tick.trace_id, "observe", "plan", "apply")
    if whole.name != "tick":
        whole, parts = tick, [one for one in (whole, *parts) if one.name != "tick"]
    assert [one.name for one in parts] == ["observe", "plan", "apply"]
    assert {one.parent_id for one in parts} == {tick.span_id}
    assert (parts[0].began, parts[-1].ended) == (whole.began, whole.ended)


def test_jobs_that_nobody_traces_and_ticks_without_a_change_tell_nothing(
    world: World,
    receiver: OtlpReceiver,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        coordinator = world.running(world.job(), 1)
        coordinator.sync()
        sending.end()
        assert {one.name for one in receiver.spans} == {"tick", "observe", "plan", "apply"}
        receiver.spans.clear()
        world.tick()
        sending.end()
    assert receiver.spans == []


def test_what_is_traced_costs_no_statement(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job = traced_job(world)
    world.running(job, 1)

    def statements() -> int:
        with CaptureQueriesContext(connection) as asked:
            control.pause(job_id=job.id, actor="ada")
        Job.objects.filter(pk=job.id).update(state="running", ends_as="")
        with CaptureQueriesContext(connection) as asked_of_many:
            control.cancel_all(job_ids=[job.id], actor="ada")
        Job.objects.filter(pk=job.id).update(state="running", ends_as="")
        return len(asked) + len(asked_of_many)

    plainly = statements()
    with traced(monkeypatch):
        assert statements() == plainly
