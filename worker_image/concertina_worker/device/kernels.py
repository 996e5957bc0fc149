"""How does the host wait for kernels of a GPU? It looks often, and sleeps between.

CUDA's own ways to wait keep a core busy, or hold a lock that other threads need.
"""

from __future__ import annotations

import time
from typing import Any, Final

import torch

LOOK_SECONDS: Final = 50e-6  # of a step that takes a hundred times as long


def await_kernels(device: torch.device) -> None:
    """Return when all has been done that was asked of the current stream; on a CPU it has."""
    if device.type != "cuda":
        return
    are_over: Any = torch.cuda.Event()
    are_over.record(torch.cuda.current_stream(device))
    while not are_over.query():
        time.sleep(LOOK_SECONDS)
