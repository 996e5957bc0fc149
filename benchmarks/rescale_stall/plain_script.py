"""The training in plain PyTorch with a checkpoint of its own: `plain_script.py <model> <folder>`.

SIGTERM at any worker: all finish the step, the first writes the checkpoint, all end. The exit code
tells `torchrun` that this is no success.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from benchmarks.rescale_stall import models
from benchmarks.rescale_stall.timeline import StepWriter

INTERRUPTED = 1


def main(name: str, folder: Path) -> None:
    is_ending = torch.zeros(1)
    signal.signal(signal.SIGTERM, lambda *_: is_ending.fill_(1.0))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    rank, workers = dist.get_rank(), dist.get_world_size()
    model = models.build(name)
    optimizer = torch.optim.Adam(model.parameters(), lr=models.LEARNING_RATE)
    number = _load(folder / "checkpoint.pt", model, optimizer)
    replica = DistributedDataParallel(model)
    inputs, targets = models.data(name).tensors
    steps = StepWriter(folder / "steps")
    batch = models.BATCH[name]
    while True:
        start = number * batch % (len(inputs) - batch)
        own = slice(start + rank * batch // workers, start + (rank + 1) * batch // workers)
        nn.functional.mse_loss(replica(inputs[own]), targets[own]).backward()
        optimizer.step()
        optimizer.zero_grad()
        number += 1
        steps.add(number, workers)
        is_any_ending = is_ending.clone()
        dist.all_reduce(is_any_ending)
        if is_any_ending > 0:
            if rank == 0:
                _save(folder / "checkpoint.pt", model, optimizer, number)
            dist.barrier()
            os._exit(INTERRUPTED)


def _save(path: Path, model: nn.Module, optimizer: Any, number: int) -> None:
    content = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "number": number}
    torch.save(content, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").replace(path)


def _load(path: Path, model: nn.Module, optimizer: Any) -> int:
    if not path.exists():
        return 0
    content = torch.load(path)
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return int(content["number"])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
