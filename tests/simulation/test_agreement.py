"""Does the event-driven simulator say the same as a naive one that goes second by second?"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.simulation.engine.replay.settings import CheckpointRestart, HotRescale, Knowledge
from autoscaler.simulation.engine.replay.simulator import run
from tests.simulation.fixed_step import finish_times
from tests.simulation.workloads import LINEAR, job, model, pool, settings, trace

RULES = BatchRange(base=64, minimum=64, maximum=256, multiple_of=64)
KINDS = tuple(
    replace(LINEAR, name=f"kind{i}", model=model(in_node=x, cross_node=3 * x), batch=RULES)
    for i, x in enumerate((0.005, 0.05, 0.3))
)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "costs",
    [
        HotRescale(stall=2.0, joiner_start=15.0, first_start=30.0),
        CheckpointRestart(seconds=40.0, first_start=30.0),
    ],
)
def test_events_and_seconds_agree(seed: int, costs: HotRescale | CheckpointRestart) -> None:
    chance, nodes = random.Random(seed), pool(4, 2)
    jobs = tuple(
        job(
            f"j{i}",
            at=float(chance.randrange(300)),
            profile=chance.choice(KINDS),
            batch=RULES,
            samples=chance.randrange(10_000, 80_000),
            declared_samples=chance.randrange(10_000, 80_000),
            max_workers=chance.choice((1, 2, 6)),
        )
        for i in range(5)
    )
    result = run(trace(*jobs), settings(nodes, rescale=costs, knowledge=Knowledge.ORACLE))
    expected = finish_times(
        jobs,
        nodes,
        tick=10,
        start=30,
        stall=int(costs.stall_seconds(LINEAR)),
        joiner=int(costs.joiner_seconds(LINEAR)),
    )
    for record in result.jobs:
        started, finished, rescales = expected[record.name]
        assert record.first_started_at == started
        assert record.rescales == rescales
        assert finished is not None
        assert record.finished_at is not None
        assert finished - 1 <= record.finished_at <= finished + 1e-6
    assert sum(record.rescales for record in result.jobs) > 0
