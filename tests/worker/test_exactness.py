"""Elastic equals static: the same training comes out, whoever computed which part of it.

In float64 within 1e-12, in float32 within 1e-5; real processes: see `test_data_jobs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from tests.worker.elastic_reading import Change, ReadingJob, Shares, numbers

SAMPLES = 61
BATCH = 8
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5}

MakeOptimizer = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]
OPTIMIZERS: dict[str, MakeOptimizer] = {
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.01),
}
CHANGES = st.builds(
    Change,
    workers=st.integers(1, 6) | st.none(),
    limit=st.integers(1, 5) | st.none(),
    loses_one=st.booleans(),
    resumes=st.booleans(),
)


def train(steps: list[Shares], make_optimizer: MakeOptimizer, dtype: torch.dtype) -> torch.Tensor:
    """The parameters after these steps, each the weighted sum of its micro-batches' gradients."""
    generator = torch.Generator().manual_seed(7)
    x = torch.rand(SAMPLES, 4, generator=generator, dtype=dtype)
    y = (x**2).sum(1, keepdim=True)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(dtype)
    optimizer = make_optimizer(model.parameters())
    for step in steps:
        optimizer.zero_grad()
        for weight, samples in step:
            (nn.functional.mse_loss(model(x[samples]), y[samples]) * weight).backward()  # type: ignore[no-untyped-call] # torch
        optimizer.step()
    return nn.utils.parameters_to_vector(model.parameters()).detach()


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@settings(max_examples=8, deadline=None)
@given(workers=st.integers(1, 6), changes=st.dictionaries(st.integers(0, 24), CHANGES, max_size=6))
def test_any_schedule_trains_like_one_worker(
    workers: int, changes: dict[int, Change], optimizer: str, dtype: torch.dtype
) -> None:
    elastic = ReadingJob(numbers(SAMPLES), tuple(f"w{n}" for n in range(workers)), BATCH)
    static = ReadingJob(numbers(SAMPLES), ("alone",), BATCH)
    for _ in range(3):
        elastic.run_epoch(changes)
        static.run_epoch({})
    ours = train(elastic.computed, OPTIMIZERS[optimizer], dtype)
    wanted = train(static.computed, OPTIMIZERS[optimizer], dtype)
    assert (ours - wanted).abs().max() <= TOLERANCE[dtype]
