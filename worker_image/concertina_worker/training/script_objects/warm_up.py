"""How does a worker get warm before the others wait for it, and find out how much it can hold?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from concertina_worker.batch.memory_limit import largest_that_fits, smaller
from concertina_worker.device import random_state
from concertina_worker.protocol import BatchRules
from concertina_worker.samples.share import REHEARSED_SAMPLES

WarmUp = Callable[..., Any]
"""The script's: once forward and backward, on any input or on so many samples."""


def warm_up(run: WarmUp, model: torch.nn.Module, rules: BatchRules | None) -> int | None:
    """Warm up without a trace in the model; return the number of samples that did not fit.

    None: all did, or the script's function does not take a number of samples.
    """
    if not inspect.signature(run).parameters:
        _without_effect(run, model)
        return None
    limit = smaller(rules["base"], rules["max_per_gpu"]) if rules else None
    samples = limit or REHEARSED_SAMPLES
    fits = largest_that_fits(lambda count: _without_effect(partial(run, count), model), samples)
    return 2 * fits if fits < samples else None


def _without_effect(run: Callable[..., Any], model: torch.nn.Module) -> None:
    """Leave neither gradients nor running averages nor random numbers behind."""
    before = random_state.take()
    buffers = [buffer.clone() for buffer in model.buffers()]
    try:
        run()
    finally:
        for parameter in model.parameters():
            parameter.grad = None
        for buffer, kept in zip(model.buffers(), buffers, strict=True):
            buffer.data.copy_(kept)
        random_state.restore(before)
