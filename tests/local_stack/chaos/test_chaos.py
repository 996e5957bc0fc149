"""What chaos chooses, counts and prints; the faults themselves are inflicted by `./dev chaos`."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psutil
import pytest
from local_stack.chaos import faults, measuring, table
from local_stack.chaos.checks import invariants
from local_stack.chaos.checks.watching import longest_gap
from local_stack.chaos.faults import Component, Fault, Moment, Strike, Way
from local_stack.chaos.measuring import ChaosResult, FaultOutcome, StrikeOutcome
from local_stack.chaos.observation.facts import (
    ClaimFact,
    EventFact,
    Facts,
    GenerationFact,
    JobFact,
    WorkerFact,
)
from local_stack.chaos.observation.processes import JobProcess, JobProcessKind
from local_stack.chaos.observation.sample_record import SampleRecord

from tests.local_stack.chaos.chaos_values import a_job

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_same_seed_makes_the_same_choices_and_another_one_others() -> None:
    def chosen(seed: int) -> tuple[Strike, ...]:
        return faults.choose(seed=seed, faults=40, longest_seconds=30)

    assert chosen(1) == chosen(1)
    assert chosen(1) != chosen(2)


@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_so_many_faults_are_chosen_and_no_pair_hits_one_component_twice(count: int) -> None:
    strikes = faults.choose(seed=3, faults=count, longest_seconds=30)
    assert sum(len(strike.faults) for strike in strikes) == count
    for strike in strikes:
        assert len({fault.component for fault in strike.faults}) == len(strike.faults)


def test_no_component_and_no_moment_is_left_out() -> None:
    strikes = faults.choose(seed=1, faults=200, longest_seconds=30)
    hits = Counter(fault.component for strike in strikes for fault in strike.faults)
    moments = Counter(strike.moment for strike in strikes)
    assert set(hits) == set(Component)
    assert set(moments) == set(Moment)
    assert max(hits.values()) <= 2 * min(hits.values())


def test_a_kill_does_not_last_and_whatever_else_does() -> None:
    strikes = faults.choose(seed=1, faults=200, longest_seconds=30)
    for fault in (fault for strike in strikes for fault in strike.faults):
        assert (fault.seconds > 0) == (fault.way is not Way.KILL)
        assert fault.seconds in {0, 5, 10, 30, faults.ABSENCE_SECONDS}


def worker(number: int, *, seconds: float | None = None) -> WorkerFact:
    return WorkerFact(
        id=f"a-1-{number}",
        phase="training" if seconds is None else "gone",
        created_at=BEGAN,
        gone_at=None if seconds is None else BEGAN + timedelta(seconds=seconds),
    )


def generation(number: int, *, is_open: bool = False, **changes: Any) -> GenerationFact:
    fields: dict[str, Any] = {
        "number": number, "attempt": 1, "step": 0, "worker_ids": ("a-1-1",),
        "lost_worker_ids": (), "recorded_at": BEGAN, "is_open": is_open,
    }  # fmt: skip
    return GenerationFact(**{**fields, **changes})


RUNNING = a_job(
    "one",
    id="a",
    state_changes=(
        EventFact(old="queued", new="starting"),
        EventFact(old="starting", new="running"),
    ),
    generations=(generation(1), generation(3, is_open=True)),
    workers=(worker(1),),
)
COMPLETED = replace(
    RUNNING,
    state="completed",
    step=2,
    samples=4,
    gpu_seconds=30.0,
    state_changes=(
        *RUNNING.state_changes,
        EventFact(old="running", new="stopping"),
        EventFact(old="stopping", new="completed"),
    ),
    generations=(generation(1),),
    workers=(worker(1, seconds=20), worker(2, seconds=10)),
)


def problems(*jobs: JobFact, **changes: Any) -> list[str]:
    facts = Facts(jobs=jobs, **changes)
    return [
        *invariants.of_jobs(facts, submitted={"a": "one"}, ended={"a"}),
        *invariants.of_histories(facts),
        *invariants.of_gpus(facts),
        *invariants.of_gpu_time(facts),
    ]


def test_nothing_is_said_of_what_is_as_it_should_be() -> None:
    claim = ClaimFact(node="n", gpu_index=0, worker_id="a-1-1")
    assert problems(RUNNING, claims=(claim,)) == []
    assert problems(COMPLETED) == []


WRONG: dict[str, tuple[tuple[JobFact, ...], str]] = {
    "a job is lost": ((), "one (a) was accepted and is lost"),
    "a job is doubled": ((RUNNING, replace(RUNNING, id="b")), "exists 2 times"),
    "a job failed": (
        (replace(RUNNING, state="failed", reason="workers_lost"),),
        "one is failed: workers_lost",
    ),
    "a loss counts as a failure of the code": (
        (replace(RUNNING, failures=1),),
        "1 failures of its own code",
    ),
    "an event is missing": (
        (replace(RUNNING, state_changes=RUNNING.state_changes[1:]),),
        "an event leads from starting, but it was queued",
    ),
    "the newest event is missing": (
        (replace(RUNNING, state="rescaling"),),
        "is rescaling, but its newest event says running",
    ),
    "two generations are open": (
        (replace(RUNNING, generations=(generation(1, is_open=True), generation(2))),),
        "generation 1 is open, and 2 began",
    ),
    "a generation had an unknown worker": (
        (replace(RUNNING, generations=(generation(1, worker_ids=("a-1-9",)),)),),
        "had ['a-1-9'], whom nobody started",
    ),
    "GPU time is missing": (
        (replace(COMPLETED, gpu_seconds=20.0),),
        "was charged 20.0 GPU-seconds, its workers had 30.0",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_hold_is_said(name: str) -> None:
    jobs, said = WRONG[name]
    assert any(said in problem for problem in problems(*jobs)), problems(*jobs)


def test_a_job_that_ends_though_nobody_told_it_to_is_named() -> None:
    facts = Facts(jobs=(COMPLETED,))
    (said,) = invariants.of_jobs(facts, submitted={"a": "one"}, ended=())
    assert said == "one is completed, but was not told to end"


def test_a_gpu_that_is_booked_by_a_worker_that_is_gone_is_named() -> None:
    claim = ClaimFact(node="n", gpu_index=0, worker_id="a-1-2")
    assert problems(COMPLETED, claims=(claim,)) == ["GPU 0 of n is booked by a-1-2, not alive"]


def process(worker_id: str, gpu: str) -> JobProcess:
    me = psutil.Process()
    return JobProcess(
        process=me, part=JobProcessKind.WORKER, job_id="a", worker_id=worker_id, gpus=(gpu,)
    )


def test_two_workers_on_one_gpu_are_named_but_not_two_processes_of_one() -> None:
    shared = invariants.of_shared_gpus([process("a-1-1", "0"), process("a-1-2", "0")])
    assert list(shared) == ["GPU 0 is used by a-1-1 and a-1-2 at once"]
    assert not list(invariants.of_shared_gpus([process("a-1-1", "0"), process("a-1-1", "0")]))


def test_a_process_whose_worker_is_gone_is_an_orphan() -> None:
    facts = Facts(jobs=(replace(RUNNING, workers=(worker(1), worker(2, seconds=1))),))
    assert list(invariants.of_orphans(facts, [process("a-1-1", "0")])) == []
    (said,) = invariants.of_orphans(facts, [process("a-1-2", "1")])
    assert "worker a-1-2" in said


def line(generation: int, step: int, epoch: int, start: int, stop: int) -> str:
    return json.dumps(
        {"generation": generation, "step": step, "epoch": epoch, "start": start, "stop": stop,
         "share": [start, stop]}
    )  # fmt: skip


def record(*lines: str) -> SampleRecord:
    return SampleRecord.of_lines(lines)


EXACT = (line(1, 1, 0, 0, 2), line(1, 2, 0, 2, 4), line(2, 3, 1, 0, 2), line(2, 4, 1, 2, 4))


def test_steps_that_are_made_again_after_a_loss_count_once() -> None:
    again = record(*EXACT, line(1, 3, 1, 0, 1), line(1, 4, 1, 1, 2))
    assert list(again.problems(samples_per_epoch=4)) == []
    assert again.steps_made_again == 2
    assert again.samples() == record(*EXACT).samples() == 8


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param((*EXACT[:1], *EXACT[2:]), id="a step is missing"),
        pytest.param((EXACT[0], line(1, 2, 0, 1, 4)), id="a sample came twice"),
        pytest.param((EXACT[0], line(1, 2, 1, 0, 2)), id="an epoch was cut short"),
        pytest.param((*EXACT[:2], line(1, 3, 0, 4, 6)), id="an epoch was too long"),
        pytest.param((*EXACT, line(2, 4, 1, 2, 3)), id="two workers disagree"),
    ],
)
def test_samples_that_came_twice_or_never_are_found(lines: tuple[str, ...]) -> None:
    assert list(record(*lines).problems(samples_per_epoch=4))


def test_a_job_that_says_another_number_of_samples_is_named() -> None:
    two_steps = record(*EXACT[:2])
    assert list(invariants.of_samples(COMPLETED, two_steps, samples_per_epoch=4)) == []
    wrong = replace(COMPLETED, samples=8)
    (said,) = invariants.of_samples(wrong, two_steps, samples_per_epoch=4)
    assert "ended after 4 samples and says 8" in said


def test_steps_that_the_last_generation_went_back_behind_are_not_in_the_model() -> None:
    """It was told to end before it made a step of its own."""
    ended = replace(COMPLETED, generations=(generation(1), generation(2, step=2)))
    three_steps = record(*EXACT[:2], line(1, 3, 1, 0, 2))
    assert list(invariants.of_samples(ended, three_steps, samples_per_epoch=4)) == []
    assert list(invariants.of_samples(COMPLETED, three_steps, samples_per_epoch=4))


def test_a_standstill_that_began_before_a_fault_and_ended_after_it_counts() -> None:
    assert longest_gap([1, 2, 7, 8], since=6) == 5
    assert longest_gap([1, 2, 7, 8], since=7.5) == 1
    assert longest_gap([], since=0) == 0


def outcome(*hit: Fault, back: float | None = 2.0, **changes: Any) -> StrikeOutcome:
    fields: dict[str, Any] = {
        "strike": Strike(number=1, faults=hit, moment=Moment.QUIET),
        "began_at": 0.0,
        "is_at_its_moment": True,
        "faults": tuple(FaultOutcome(fault=f, target=str(f), noticed_seconds=0.5) for f in hit),
        "back_seconds": back,
        "back_last": "the service is not well",
        "standstill_seconds": 1.0,
        "steps_made_again": 3,
        "violations": (),
    }
    return StrikeOutcome(**{**fields, **changes})


KILL_API = Fault(component=Component.API, way=Way.KILL)
FREEZE_API = Fault(component=Component.API, way=Way.FREEZE, seconds=5)
KILL_IO = Fault(component=Component.IO, way=Way.KILL)


def test_of_a_pair_both_components_bear_the_cost() -> None:
    api, io = measuring.rows([outcome(KILL_API), outcome(FREEZE_API, KILL_IO, back=4.0)])
    assert (api.ways, api.back_p50, api.back_max) == ({Way.KILL: 1, Way.FREEZE: 1}, 3.0, 4.0)
    assert (io.ways, io.back_p50, io.steps_made_again) == ({Way.KILL: 1}, 4.0, 3)


def test_what_never_came_back_is_not_hidden_by_what_did() -> None:
    text = "\n".join(table.lines([outcome(KILL_API), outcome(KILL_API, back=None)]))
    assert "once never" in text


def test_a_violation_counts_once_however_often_it_is_seen_again() -> None:
    twice = (
        outcome(KILL_API, violations=("a is lost",)),
        outcome(KILL_IO, violations=("a is lost",)),
    )
    result = ChaosResult(seed=1, seconds=3.0, outcomes=twice, left=("a is lost", "b is lost"))
    assert result.violations == ["after strike 1: a is lost", "at the end: b is lost"]


def test_the_document_is_json_and_says_what_was_hit() -> None:
    result = ChaosResult(seed=7, seconds=3.0, outcomes=(outcome(KILL_API, back=None),), left=())
    told = json.loads(json.dumps(table.document(result), allow_nan=False))
    assert (told["seed"], told["faults"], told["violations"]) == (7, 1, [])
    assert told["components"][0]["component"] == "api"
    assert told["strikes"][0]["strike"]["faults"][0]["way"] == "kill -9"
