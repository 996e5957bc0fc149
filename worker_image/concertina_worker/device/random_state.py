"""Where are the generators of random numbers, those of the GPUs among them?"""

from __future__ import annotations

import importlib
import random
import sys
from typing import Any

import torch


def take() -> dict[str, Any]:
    """Return the states of all generators. GPUs that this process has not used have none."""
    has_gpus = torch.cuda.is_initialized()
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if has_gpus else [],
        "python": random.getstate(),
        "numpy": sys.modules["numpy"].random.get_state() if "numpy" in sys.modules else None,
    }


def restore(state: dict[str, Any]) -> None:
    """Go on from there; on fewer GPUs, or on a CPU, as far as they go."""
    torch.set_rng_state(state["torch"])
    random.setstate(state["python"])
    if state.get("numpy") is not None:  # older checkpoints have none
        importlib.import_module("numpy").random.set_state(state["numpy"])
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    for index, of_gpu in enumerate(state["cuda"][:count]):
        torch.cuda.set_rng_state(of_gpu, index)
