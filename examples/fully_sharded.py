"""Handwritten digits with a model of which each worker holds a part only: `fully_shard`.

Nothing here knows of Concertina; in restart mode it is rescaled all the same. All workers write a
checkpoint together, each its own parts, and however many there are later read it, each the parts
that are its own then: `torchrun --nproc-per-node 2 fully_sharded.py`, or alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from sklearn.datasets import load_digits
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn import functional as F  # noqa: N812 - everybody calls it so

GLOBAL_BATCH = 60  # divides evenly among 1 to 6 workers


def make_model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))


def make_optimizer(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=0.002)


@cache
def load() -> tuple[torch.Tensor, torch.Tensor]:
    """1,797 images of 8 x 8 pixels, and the digits that they show."""
    digits = load_digits()
    return torch.tensor(digits.images, dtype=torch.float32) / 16, torch.tensor(digits.target)


def batch_of(step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The same for a step, however many workers share it."""
    images, labels = load()
    chance = torch.Generator().manual_seed(step)
    chosen = torch.randperm(len(labels), generator=chance)[:GLOBAL_BATCH]
    return images[chosen], labels[chosen]


class Checkpoints:
    """One folder for each; a file names the newest that is whole."""

    def __init__(self, folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self._folder = folder
        self._newest = folder / "newest"
        self._training = model, optimizer

    def save(self, step: int) -> None:
        """All workers call it."""
        dcp.save(self._state(), checkpoint_id=self._folder / f"step-{step}")
        if dist.get_rank() == 0:
            before = self._newest.read_text() if self._newest.exists() else ""
            written = self._newest.with_suffix(".tmp")
            written.write_text(f"step-{step}")
            written.replace(self._newest)
            if before not in {"", f"step-{step}"}:
                shutil.rmtree(self._folder / before)

    def load(self) -> int:
        """All workers call it; returns how many steps were made."""
        if not self._newest.exists():
            return 0
        name = self._newest.read_text()
        state = self._state()  # which says which parts this worker wants
        dcp.load(state, checkpoint_id=self._folder / name)
        weights, moments = state["model"], state["optimizer"]
        set_state_dict(*self._training, model_state_dict=weights, optim_state_dict=moments)
        return int(name.removeprefix("step-"))

    def _state(self) -> dict[str, Any]:
        weights, moments = get_state_dict(*self._training)
        return {"model": weights, "optimizer": moments}


def anybody(is_true: bool) -> bool:  # noqa: FBT001
    """Whether it is true on any worker."""
    votes = torch.tensor(float(is_true))
    dist.all_reduce(votes)
    return bool(votes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--save-every", type=int, default=200, help="steps")
    folder = Path(os.environ.get("CONCERTINA_CHECKPOINT_DIR", "checkpoints"))
    parser.add_argument("--checkpoints", type=Path, default=folder / "sharded-digits")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for name, value in {"RANK": 0, "WORLD_SIZE": 1, "MASTER_ADDR": "127.0.0.1"}.items():
        os.environ.setdefault(name, str(value))  # alone
    os.environ.setdefault("MASTER_PORT", "0")
    dist.init_process_group("gloo")
    rank, workers = dist.get_rank(), dist.get_world_size()
    is_told_to_stop = False

    def on_sigterm(*_: object) -> None:
        nonlocal is_told_to_stop
        is_told_to_stop = True

    signal.signal(signal.SIGTERM, on_sigterm)
    model = make_model()
    mesh = init_device_mesh("cpu", (workers,))
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = make_optimizer(model)
    checkpoints = Checkpoints(arguments.checkpoints, model, optimizer)
    step = checkpoints.load()
    if step and rank == 0:
        print(f"resumed at step {step}", flush=True)
    while step < arguments.steps:
        images, labels = (part.chunk(workers)[rank] for part in batch_of(step))
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if rank == 0 and step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f} workers {workers}", flush=True)
        is_stopping = anybody(is_told_to_stop)
        if is_stopping or step % arguments.save_every == 0 or step == arguments.steps:
            checkpoints.save(step)
        if is_stopping:
            break
    dist.barrier()


if __name__ == "__main__":
    main()
    dist.destroy_process_group()
