"""Did a micro-batch not fit into memory, and how large may the next one be?

A script's loop cannot be resumed where it ran out of memory: the exception has left it, and names
that its body assigns may be unbound. So a worker that did ends with a code of its own; one that
takes its place gets micro-batches half as large. A script whose `warm_up` takes a number of
samples finds its limit before the training, where nothing is lost: see `largest_that_fits`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch

_PHRASES: Final = (
    "out of memory",  # CUDA, and the drivers below it
    "DefaultCPUAllocator: can't allocate memory",
    "not enough memory",  # the same on other systems
    "CUBLAS_STATUS_ALLOC_FAILED",
)


def is_out_of_memory(error: BaseException | None) -> bool:
    """True for an error that a smaller micro-batch could have avoided."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(phrase in str(error) for phrase in _PHRASES)


def largest_that_fits(run: Callable[[int], Any], samples: int) -> int:
    """Run with so many samples, or with half as many as often as it takes.

    Raises:
        whatever `run` does for other reasons than memory, or with a single sample.
    """
    while True:
        try:
            run(samples)
        except Exception as error:
            if samples == 1 or not is_out_of_memory(error):
                raise
        else:
            return samples
        samples //= 2  # here, where the exception no longer holds the memory of the attempt


def smaller(limit: int | None, other: int | None) -> int | None:
    """The limit that holds where both do; None: there is none."""
    return min((known for known in (limit, other) if known is not None), default=None)
