"""Does a simulation reach a final state, whatever happens to its worker?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cluster.models import Node, Pool
from django.db import connection, transaction
from django.utils import timezone
from tenancy.models import Team

from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.simulation.api import commands, execution, history, retention, tasks
from autoscaler.simulation.api.models import Report, Simulation
from autoscaler.simulation.api.rest.requests import checked
from jobs.lifecycle import JobState
from jobs.models import Job, Measurement
from tests.end_to_end.waiting import until
from tests.extension import install_example, policies_found_anew


@pytest.fixture
def simulation(vision: Team) -> Simulation:
    return make()


def make(**changes: Any) -> Simulation:
    body = {"trace": {"kind": "generated", "mix": "kinds", "jobs": 3}, "policies": ["throughput"]}
    return commands.request(title="t", body=checked({**body, **changes}), requested_by="root")


def state_of(simulation: Simulation) -> str:
    return Simulation.objects.get(pk=simulation.pk).state


def fall_silent(simulation: Simulation) -> None:
    long_ago = timezone.now() - commands.SILENCE - timedelta(seconds=1)
    Simulation.objects.filter(pk=simulation.pk).update(seen_at=long_ago)


def test_a_simulation_is_taken_up_by_one_worker_only(simulation: Simulation) -> None:
    assert commands.claim() == simulation
    assert commands.claim() is None


def test_simulations_run_one_at_a_time_and_each_asks_for_the_next(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(tasks, "ask", lambda: asked.append(True))
    second = make()
    first = commands.claim()
    assert first == simulation
    assert commands.claim() is None
    assert commands.fail(first, "for the test")
    make()
    assert tasks.run_next()
    assert (state_of(second), asked) == ("completed", [True])


def test_two_workers_that_look_at_the_same_moment_take_up_one_simulation(
    transactional_db: None, vision: Team
) -> None:
    """The other one looks while the first has not committed, so it sees none that runs."""
    make()
    make()
    claimed: list[Simulation | None] = []

    def claim() -> None:
        try:
            claimed.append(commands.claim())
        finally:
            connection.close()

    other = threading.Thread(target=claim)
    with transaction.atomic():
        assert commands.claim() is not None
        other.start()
        until(is_decided(other), seconds=90, what="the other worker has looked")
    other.join()
    assert claimed == [None]
    assert Simulation.objects.filter(state="running").count() == 1


def is_decided(other: threading.Thread) -> Callable[[], bool]:
    """Whether the other one has returned, or waits for our transaction."""

    def look() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return not other.is_alive() or cursor.fetchone() != (0,)

    return look


def test_a_simulation_whose_worker_died_is_run_again(simulation: Simulation) -> None:
    dead = commands.claim()
    assert dead is not None
    assert commands.recover_lost() == 0  # it was seen just now
    fall_silent(simulation)
    assert commands.recover_lost() == 1
    assert execution.run_next()
    assert state_of(simulation) == "completed"


def test_a_worker_that_was_thought_dead_changes_nothing_any_more(simulation: Simulation) -> None:
    late = commands.claim()
    assert late is not None
    fall_silent(simulation)
    commands.recover_lost()
    assert commands.claim() is not None
    assert not commands.note_progress(late, 0.5)
    assert not commands.complete(late, result={"runs": []}, html="")
    assert not commands.fail(late, "too late")
    assert state_of(simulation) == "running"


def test_a_simulation_that_takes_its_worker_down_twice_has_failed(simulation: Simulation) -> None:
    for _ in range(commands.ATTEMPTS):
        assert commands.claim() is not None
        fall_silent(simulation)
        commands.recover_lost()
    simulation.refresh_from_db()
    assert simulation.state == "failed"
    assert "died 2 times" in simulation.error
    assert simulation.finished_at is not None


def test_a_cancelled_simulation_stops_at_its_next_sign_of_life(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "SECONDS_BETWEEN_SIGNS", 0.0)
    note = commands.note_progress

    def cancel_first(running: Simulation, progress: float) -> bool:
        commands.cancel(running)
        return note(running, progress)

    monkeypatch.setattr(commands, "note_progress", cancel_first)
    assert execution.run_next()
    assert state_of(simulation) == "cancelled"
    assert not Report.objects.exists()


def test_a_simulation_that_takes_too_long_is_given_up(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "SECONDS_BETWEEN_SIGNS", 0.0)
    monkeypatch.setattr("autoscaler.simulation.api.limits.MOST_SECONDS", 0.0)
    execution.run_next()
    simulation.refresh_from_db()
    assert simulation.state == "failed"
    assert "Simulate fewer jobs" in simulation.error


def test_a_request_that_no_longer_fits_the_cluster_fails_with_the_reason(
    simulation: Simulation,
) -> None:
    Simulation.objects.update(request={**simulation.request, "add_gpus": -100})
    execution.run_next()
    simulation.refresh_from_db()
    assert (simulation.state, "take away fewer" in simulation.error) == ("failed", True)


def test_an_uploaded_job_that_can_never_end_is_named(vision: Team) -> None:
    text = "name,submitted_at,profile,samples,min_workers\nbig,0,balanced,9,999\n"
    simulation = make(trace={"kind": "uploaded", "text": text})
    execution.run_next()
    simulation.refresh_from_db()
    assert simulation.state == "failed"
    assert "Job big can never end under throughput. Cannot start:" in simulation.error


def test_what_waits_is_asked_for_again(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(tasks, "ask", lambda: asked.append(True))
    tasks.look_after()
    assert asked == [True]
    tasks.run_next()
    tasks.look_after()
    assert asked == [True]


def test_history_replays_the_measured_jobs_of_the_last_days(job: Job, vision: Team) -> None:
    Measurement.objects.create(
        job=job, workers=1, global_batch_size=64, steps=100, step_seconds=0.1
    )
    Job.objects.filter(pk=job.pk).update(
        state=JobState.COMPLETED, samples=64_000, finished_at=timezone.now()
    )
    trace = history.trace(days=1)
    (found,) = trace.jobs
    assert (found.team, found.samples, found.max_workers) == ("vision", 64_000.0, 4)
    assert found.batch == BatchRange(base=64, minimum=64, maximum=512)
    simulation = make(trace={"kind": "history", "days": 1})
    assert execution.run_next()
    simulation.refresh_from_db()
    assert simulation.state == "completed", simulation.error
    assert simulation.result is not None
    assert simulation.result["runs"][0]["done"] == 1


def test_simulations_are_forgotten_long_after_they_ended(simulation: Simulation) -> None:
    long_ago = timezone.now() - timedelta(days=91)
    Simulation.objects.update(state="failed", finished_at=long_ago)
    waiting = make()
    deleted = retention.delete_old(timedelta(days=90), has_time=lambda: True)
    assert deleted == {"simulations": 1}
    assert list(Simulation.objects.all()) == [waiting]


def test_a_policy_of_an_extension_is_simulated_wherever_it_plans(
    vision: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the pool that is asked about, and in another one that it plans already."""
    with policies_found_anew():
        install_example(tmp_path, monkeypatch)
        elsewhere = Pool.objects.create(name="elsewhere", policy="thrifty")
        Node.objects.create(name="far", pool=elsewhere, gpus=2)
        simulation = make(policies=["thrifty:least_share=0.5"])
        assert execution.run_next()
    simulation.refresh_from_db()
    assert (simulation.state, simulation.error) == ("completed", "")
