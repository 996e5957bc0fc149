"""Where does this worker compute? On the first GPU it was given, else on the CPU.

The platform gives a worker its GPUs through `CUDA_VISIBLE_DEVICES`, before the process begins: it
sees these and no others, numbered from 0. So "the first" is `cuda:0` in every worker, and no
worker leaves a context on the GPU of another.

Asking initialises the CUDA driver, after which a process must not fork any more: only a worker
asks, never the process it was forked from.
"""

from __future__ import annotations

import logging
from typing import Final

import torch

CPU: Final = torch.device("cpu")
SLOT: Final = "slot"  # the GPU type of a pool without GPUs

_log = logging.getLogger(__name__)


def choose(gpu_type: str | None) -> torch.device:
    """Choose for a worker of a pool of this type; None: outside the platform, any GPU will do."""
    if torch.cuda.is_available():
        return torch.device("cuda", 0)
    if gpu_type not in (None, SLOT):
        _log.warning(
            "PyTorch cannot use the %s this worker was given, and computes on the CPU: %s "
            "action=use_cpu",
            gpu_type,
            _reason(),
        )
    return CPU


def identity(device: torch.device) -> str:
    """A name of the GPU that no other in the world has; empty for the CPU."""
    return str(torch.cuda.get_device_properties(device).uuid) if device.type == "cuda" else ""


def _reason() -> str:
    if torch.version.cuda is None:
        return f"PyTorch {torch.__version__} was built without CUDA"
    return f"the driver is missing or older than CUDA {torch.version.cuda} needs"
