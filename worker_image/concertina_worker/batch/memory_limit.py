"""Did a micro-batch not fit into memory, and how large may the next one be?"""

from __future__ import annotations

from typing import Final

import torch

_PHRASES: Final = (
    "out of memory",  # CUDA, and the drivers below it
    "DefaultCPUAllocator: can't allocate memory",
    "not enough memory",  # the same on other systems
    "CUBLAS_STATUS_ALLOC_FAILED",
)


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether a smaller micro-batch could have avoided this error."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(phrase in str(error) for phrase in _PHRASES)


def smaller(limit: int | None, other: int | None) -> int | None:
    """The limit that holds where both do; None: there is none."""
    return min((known for known in (limit, other) if known is not None), default=None)
