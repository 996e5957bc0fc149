"""Handwritten digits with plain PyTorch: DistributedDataParallel and a checkpoint of its own.

Nothing here knows of Concertina; in restart mode it is rescaled all the same, like any script that
resumes from its checkpoint: `torchrun --nproc-per-node 2 torchrun_ddp.py`, or alone.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
from pathlib import Path

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it so
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

GLOBAL_BATCH = 60  # divides evenly among 1 to 6 workers


def load() -> TensorDataset:
    """1,797 images of 8 x 8 pixels."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32) / 16
    return TensorDataset(images, torch.tensor(digits.target))


def save(path: Path, **content: object) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(content, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").replace(path)


def anybody(is_true: bool) -> bool:  # noqa: FBT001
    """Whether it is true on any worker."""
    votes = torch.tensor(float(is_true))
    dist.all_reduce(votes)
    return bool(votes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    folder = Path(os.environ.get("CONCERTINA_CHECKPOINT_DIR", "checkpoints"))
    parser.add_argument("--checkpoint", type=Path, default=folder / "digits.pt")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    for name, value in {"RANK": 0, "WORLD_SIZE": 1, "MASTER_ADDR": "127.0.0.1"}.items():
        os.environ.setdefault(name, str(value))  # alone
    os.environ.setdefault("MASTER_PORT", "0")
    dist.init_process_group("gloo")
    is_told_to_stop = False

    def on_sigterm(*_: object) -> None:
        nonlocal is_told_to_stop
        is_told_to_stop = True

    signal.signal(signal.SIGTERM, on_sigterm)
    network = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    model = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    training = load()
    sampler: DistributedSampler[object] = DistributedSampler(training, seed=0)
    loader = DataLoader(training, GLOBAL_BATCH // dist.get_world_size(), sampler=sampler)
    first_epoch = 0
    if arguments.checkpoint.exists():
        checkpoint = torch.load(arguments.checkpoint)
        network.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        first_epoch = checkpoint["epoch"]
        if dist.get_rank() == 0:
            print(f"resumed at epoch {first_epoch + 1}", flush=True)
    for epoch in range(first_epoch, arguments.epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(
                f"epoch {epoch + 1} loss {loss.item():.4f} workers {dist.get_world_size()}",
                flush=True,
            )
            state = {"model": network.state_dict(), "optimizer": optimizer.state_dict()}
            save(arguments.checkpoint, epoch=epoch + 1, **state)
        if anybody(is_told_to_stop):
            break


if __name__ == "__main__":
    main()
    gc.collect()  # a model that still holds the group would end it too late, and hang
    dist.destroy_process_group()
