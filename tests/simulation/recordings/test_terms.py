"""Does each term of a job reach the planner of the simulation, and is it kept to there?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from autoscaler.planning.policies import BUILT_IN
from autoscaler.planning.snapshot.cluster_state import PlannedJob
from autoscaler.planning.snapshot.job_terms import BatchRange, JobTerms, Utility
from autoscaler.planning.snapshot.vocabulary import Preemptibility
from autoscaler.simulation.engine.replay.simulator import Replay, run
from autoscaler.simulation.engine.workload.applications import NCF
from autoscaler.simulation.engine.workload.importers.concertina_csv import from_csv, to_csv
from autoscaler.simulation.engine.workload.importers.concertina_json import from_json, to_json
from autoscaler.simulation.engine.workload.selection import Selection
from autoscaler.simulation.engine.workload.trace import Trace
from tests.simulation.workloads import job, pool, settings, trace

# Of each term a value that it does not have by itself.
TERMS: dict[str, Any] = {
    "name": "resnet",
    "team": "speech",
    "pool": "a100",
    "submitted_at": 30.0,
    "batch": BatchRange(
        base=64, minimum=32, maximum=256, multiple_of=8, max_per_gpu=128, accumulation=False
    ),
    "min_workers": 2,
    "max_workers": 6,
    "allowed_workers": (2, 4),
    "worker_step": 2,
    "gpus_per_worker": 2,
    "priority": 70,
    "preemptibility": Preemptibility.NON_PREEMPTIBLE,
    "deadline": 5000.0,
    "requested_workers": 3,
    "utility": Utility(points=((0.0, 10.0), (60.0, 0.0))),
    "min_interval_seconds": 45.0,
    "user": "ann",
}
ROUTES: dict[str, Callable[[Trace], Trace]] = {
    "as it is": lambda made: made,
    "through JSON": lambda made: from_json(to_json(made)),
    "through CSV": lambda made: from_csv(to_csv(made)),
    "as a part": lambda made: Selection(share=1.0, most_jobs=1).of(made),
}


def seen(made: Trace, at: float) -> PlannedJob:
    """The job as a plan made at this time sees it."""
    world = settings(pool(8, 8), pool(8, 8, name="a100"))
    simulation = Replay.from_trace(made, world)
    simulation.run_until(at)
    (found,) = simulation.present().jobs
    return found


def test_no_term_is_without_a_value_here() -> None:
    assert TERMS.keys() == {term.name for term in fields(JobTerms)}


@pytest.mark.parametrize("at", [30.0, 300.0])  # when it comes, and when it has run for a while
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("term", TERMS)
def test_each_term_reaches_the_planner(term: str, route: str, at: float) -> None:
    usual = {"submitted_at": 0.0, "profile": NCF, "batch": NCF.batch, "max_workers": 6}
    made = replace(job("usual", samples=1e9), **usual | {term: TERMS[term]})
    assert getattr(seen(ROUTES[route](trace(made)), at), term) == TERMS[term]


SIZES: dict[str, tuple[dict[str, Any], set[int]]] = {
    "steps": ({"min_workers": 2, "max_workers": 11, "worker_step": 4}, {2, 6, 10}),
    "list": ({"max_workers": 8, "allowed_workers": (2, 5, 8)}, {2, 5, 8}),
    "range": ({"min_workers": 3, "max_workers": 4}, {3, 4}),
    "pairs": ({"max_workers": 3, "gpus_per_worker": 2}, {1, 2, 3}),
}


@pytest.mark.parametrize("nodes", [(4, 4, 4), (8, 8, 8)], ids=["small pool", "large pool"])
@pytest.mark.parametrize("policy", BUILT_IN.names)
def test_jobs_only_ever_have_numbers_of_workers_that_they_allow(
    policy: str, nodes: tuple[int, ...]
) -> None:
    """While others come and go, so that each of them is changed now and then."""
    jobs = [job(name, at=0.0, samples=150_000, **terms) for name, (terms, _) in SIZES.items()]
    others = [job(f"o{n}", at=240.0 * n, max_workers=6, samples=60_000) for n in range(4)]
    result = run(trace(*jobs, *others), settings(pool(*nodes, policy=policy), tick_seconds=30.0))
    for record in result.jobs[: len(SIZES)]:
        had = {span.workers for span in record.history} - {0}
        assert had, record.name
        assert had <= SIZES[record.name][1], record.name
