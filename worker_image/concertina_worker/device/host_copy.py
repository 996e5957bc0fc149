"""How does state get out of a training's way, into the host's memory? Copied, all at once.

Tensors on GPUs go into pinned memory, which a GPU writes by itself at the full speed of its bus:
all copies are started, then waited for together. PyTorch keeps pinned memory for the next time.
"""

from __future__ import annotations

import copy
from typing import Any

import torch


def copied(content: Any) -> Any:
    """The same structure with every tensor on the CPU, and nothing shared with the original."""
    devices: set[torch.device] = set()
    copy_of_all = _copied(content, devices)
    for device in devices:
        torch.cuda.current_stream(device).synchronize()
    return copy_of_all


def _copied(value: Any, devices: set[torch.device]) -> Any:
    if isinstance(value, torch.Tensor):
        return _tensor(value.detach(), devices)
    if isinstance(value, dict):  # with what it has beside its items, as a module's has versions
        twin = copy.copy(value)
        for key, item in value.items():
            twin[key] = _copied(item, devices)
        return twin
    if type(value) in (list, tuple):
        return type(value)(_copied(item, devices) for item in value)
    return copy.deepcopy(value)


def _tensor(tensor: torch.Tensor, devices: set[torch.device]) -> torch.Tensor:
    if not tensor.is_cuda:
        return tensor.to("cpu", copy=True)
    devices.add(tensor.device)
    room = torch.empty_like(tensor, device="cpu", pin_memory=True)
    return room.copy_(tensor, non_blocking=True)
