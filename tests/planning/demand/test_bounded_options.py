"""How many sizes and batches of one job does a plan look at, whatever its spec says?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.planning.demand.batch import FeasibleBatches
from autoscaler.planning.demand.sizes import MOST_SIZES, PoolShape, WorkerRules, allowed_sizes
from autoscaler.planning.snapshot.job_terms import BatchRange
from jobs.spec.batch import LARGEST_BATCH
from jobs.spec.job_spec import MOST_GPUS, MOST_WORKERS

LARGE_POOL = PoolShape(((1, 20_000), (8, 2_000), (64, 10)))
SMALL_POOL = PoolShape(((16, 1),))
COUNTS = st.one_of(st.integers(1, MOST_WORKERS), st.sampled_from((1, 2, 63, 64, 65, MOST_WORKERS)))
BATCHES = st.one_of(st.integers(1, LARGEST_BATCH), st.sampled_from((1, 64, LARGEST_BATCH)))


@pytest.mark.parametrize("shape", [LARGE_POOL, SMALL_POOL])
@given(minimum=COUNTS, maximum=COUNTS, step=COUNTS, per_worker=st.integers(1, MOST_GPUS))
def test_a_job_has_few_sizes(
    shape: PoolShape, minimum: int, maximum: int, step: int, per_worker: int
) -> None:
    rules = WorkerRules(minimum, max(minimum, maximum), step, None, per_worker)
    assert len(allowed_sizes(rules, shape)) <= MOST_SIZES
    listed = rules._replace(minimum=1, maximum=MOST_WORKERS, allowed=tuple(range(1, 1001)))
    assert len(allowed_sizes(listed, shape)) <= MOST_SIZES


@given(
    batches=st.tuples(BATCHES, BATCHES).map(sorted),
    unit=BATCHES,
    per_gpu=st.one_of(st.none(), BATCHES),
    current=BATCHES,
    workers=st.lists(COUNTS, min_size=1, max_size=MOST_SIZES, unique=True).map(sorted),
)
def test_each_size_has_few_batches(
    batches: list[int], unit: int, per_gpu: int | None, current: int, workers: list[int]
) -> None:
    low, high = batches
    rules = BatchRange(base=low, minimum=low, maximum=high, multiple_of=unit, max_per_gpu=per_gpu)
    feasible = FeasibleBatches.of(rules, np.array(workers), at_most=high)
    tried = feasible.with_current(feasible.candidates(per_gpu), current)
    assert tried.shape[0] == len(workers)
    assert tried.shape[1] <= 64 + 4 + 1  # a grid, full micro-batches, and the present batch
