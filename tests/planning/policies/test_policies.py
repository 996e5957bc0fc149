"""Every policy as a map: a sentence -> (policy, jobs, GPUs, what each job gets)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.planner import plan
from autoscaler.planning.policies import BUILT_IN
from autoscaler.planning.snapshot.job_terms import BatchRange, Utility
from tests.planning.builders import NOW, batch, cluster, measured, running, said, summary, waiting

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob

PERFECT = measured((1, 100), (2, 200), (3, 300), (4, 400))
FADING = measured((1, 100), (2, 180), (3, 220), (4, 228))  # steps of 0.8, 0.44, 0.11
WIDE = BatchRange(base=64, minimum=32, maximum=256, multiple_of=32)
IN_MEMORY = BatchRange(
    base=64, minimum=64, maximum=256, max_per_gpu=64, accumulation=False, multiple_of=64
)


def seen(policy: str, *jobs: PlannedJob, gpus: int = 4, dollars: float = 0.0) -> ClusterState:
    state = cluster(*jobs, nodes=(gpus,), quotas={}, policy=policy)
    return replace(state, pools=(replace(state.pools[0], dollars_per_gpu_hour=dollars),))


def old(name: str, workers: int, **overrides: object) -> PlannedJob:
    """So old that a change costs it nothing but what any change must gain."""
    return running(name, workers, **({"started_at": NOW - 10**6} | overrides))  # type: ignore[arg-type]


def hour(*points: tuple[float, float]) -> Utility:
    """Points in hours since the submission, and dollars."""
    return Utility(points=tuple((3600 * at, dollars) for at, dollars in points))


AN_HOUR = 360_000  # samples at 100 a second

EXPECTED: dict[str, tuple[ClusterState, dict[str, str]]] = {
    "throughput gives a GPU to the job that scales better, however long it is": (
        seen(
            "throughput",
            old("good", 1, measurements=PERFECT, remaining_samples=10**8),
            old("poor", 2, measurements=measured((1, 100), (2, 110)), remaining_samples=100),
        ),
        {"good": "rescale 3", "poor": "rescale 1"},
    ),
    "completion_time gives more to the job that ends first": (
        seen(
            "completion_time",
            old("long", 3, measurements=PERFECT, remaining_samples=10**8),
            old("short", 1, measurements=PERFECT, remaining_samples=10**4),
        ),
        {"long": "rescale 1", "short": "rescale 3"},
    ),
    "fixed_batch:min starts a job at the smallest batch of its range": (
        seen("fixed_batch:batch=min", waiting("a", batch=WIDE)),
        {"a": "start 1 of 32"},
    ),
    "fixed_batch:max starts it at the largest": (
        seen("fixed_batch:batch=max", waiting("a", batch=WIDE)),
        {"a": "start 1 of 256"},
    ),
    "a large fixed batch needs as many workers as hold it in memory": (
        seen("fixed_batch:batch=max", waiting("a", batch=IN_MEMORY)),
        {"a": "start 4 of 256"},
    ),
    "a range beyond what a job's workers can hold ends at what they can": (
        seen("fixed_batch:batch=max", waiting("a", batch=replace(IN_MEMORY, maximum=4096))),
        {"a": "start 4 of 256"},
    ),
    "and a fixed batch that the pool cannot hold never starts": (
        seen("fixed_batch:batch=max", waiting("a", batch=IN_MEMORY), gpus=3),
        {"a": "wait"},
    ),
    "with a batch of its own choice the same job starts on one": (
        seen("throughput", waiting("a", batch=IN_MEMORY)),
        {"a": "start 1 of 64"},
    ),
    "a running job is brought to the fixed batch": (
        seen("fixed_batch:batch=max", old("a", 4, batch=WIDE, min_workers=4)),
        {"a": "rescale 4 of 256"},
    ),
    "elastic_fifo gives equal shares, and what is left over to whoever came first": (
        seen(
            "elastic_fifo",
            old("late", 1, measurements=PERFECT, submitted_at=NOW - 10),
            old("early", 1, measurements=FADING, submitted_at=NOW - 900),
            gpus=3,
        ),
        {"late": "keep 1", "early": "rescale 2"},
    ),
    "static starts a job on the workers it requests": (
        seen("static", waiting("a", requested_workers=3)),
        {"a": "start 3"},
    ),
    "static takes max_workers of a job that requests none, and the others wait": (
        seen("static", waiting("a", submitted_at=NOW - 20), waiting("b", max_workers=2)),
        {"a": "start 4", "b": "wait"},
    ),
    "static requests no more than the job allows": (
        seen("static", waiting("a", requested_workers=9, allowed_workers=(1, 2))),
        {"a": "start 2"},
    ),
    "static changes neither workers nor batch of a running job": (
        seen("static", old("a", 2, batch=WIDE, requested_workers=2, measurements=PERFECT)),
        {"a": "keep 2"},
    ),
    "scaling_efficiency grows a job while each step brings more than the threshold": (
        seen("scaling_efficiency:threshold=0.3", old("a", 1, measurements=FADING)),
        {"a": "rescale 3"},
    ),
    "at a higher threshold it stops earlier": (
        seen("scaling_efficiency:threshold=0.5", old("a", 1, measurements=FADING)),
        {"a": "rescale 2"},
    ),
    "a job beyond the threshold gives GPUs back though nobody wants them": (
        seen("scaling_efficiency:threshold=0.5", old("a", 4, measurements=FADING)),
        {"a": "rescale 2"},
    ),
    "utility_cost grows a job while an earlier end is worth its price": (
        seen(
            "utility_cost",
            old(
                "a", 1, measurements=FADING, remaining_samples=AN_HOUR, utility=hour((0, 9), (9, 0))
            ),
            dollars=1.0,
        ),
        {"a": "rescale 2"},
    ),
    "at ten times the price it does not": (
        seen(
            "utility_cost",
            old(
                "a", 1, measurements=FADING, remaining_samples=AN_HOUR, utility=hour((0, 9), (9, 0))
            ),
            dollars=10.0,
        ),
        {"a": "keep 1"},
    ),
    "a job without utility is worth what the admin set": (
        seen(
            "utility_cost:dollars_per_hour=100",
            old("a", 1, measurements=PERFECT, remaining_samples=AN_HOUR),
            dollars=1.0,
        ),
        {"a": "rescale 4"},
    ),
}


@pytest.mark.parametrize("sentence", EXPECTED)
def test_policy(sentence: str) -> None:
    state, expected = EXPECTED[sentence]
    result = plan(state)
    batches = {d.job_id: d.allocation and d.allocation.global_batch_size for d in result.decisions}
    got = {
        job: f"{what} of {batches[job]}" if " of " in expected[job] else what
        for job, what in summary(result).items()
    }
    assert got == expected
    assert check(state, result) == ()


def test_every_built_in_policy_is_in_the_map() -> None:
    used = {state.pools[0].policy.partition(":")[0] for state, _ in EXPECTED.values()}
    assert used == set(BUILT_IN.names)


def test_a_random_batch_is_always_the_same_for_a_job_and_another_for_another() -> None:
    policy = BUILT_IN.policy("fixed_batch:batch=random")
    jobs = [waiting(f"j{number}", batch=WIDE) for number in range(40)]
    fixed = [policy.restrict(job).batch for job in jobs]
    assert fixed == [policy.restrict(job).batch for job in jobs]
    assert {rules.base for rules in fixed} == set(range(32, 257, 32))
    assert all(rules.minimum == rules.base == rules.maximum for rules in fixed)


def test_a_job_refused_for_its_fixed_batch_is_told_how_many_gpus_that_needs() -> None:
    state = seen("fixed_batch:batch=max", waiting("a", batch=IN_MEMORY), gpus=3)
    assert plan(state).decisions[0].reason is JobReason.EXCEEDS_LIMIT
    assert "4 GPUs" in said(state)["a"]


def test_a_constant_batch_stays_what_it_is_wherever_it_is_fixed() -> None:
    for at in ("min", "max", "random"):
        restricted = BUILT_IN.policy(f"fixed_batch:batch={at}").restrict(
            waiting("a", batch=batch(96))
        )
        assert restricted.batch == batch(96)
