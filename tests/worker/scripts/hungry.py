"""A job whose memory grows with its micro-batch, on a machine that has little of it."""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import TensorDataset

import concertina_worker as elastic

MEGABYTE = 2**20


class Hungry(nn.Module):
    """Asks the allocator for so much per sample, and forgets it at once."""

    def __init__(self, megabytes: int, failures: Path | None) -> None:
        super().__init__()
        self._bytes = megabytes * MEGABYTE
        self._failures = failures

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            torch.empty(len(x) * self._bytes, dtype=torch.uint8)
        except RuntimeError:
            if self._failures is not None:
                wait_for_another(self._failures)
            raise
        return x


def wait_for_another(failures: Path) -> None:
    """Until two workers have run out of memory."""
    failures.mkdir(exist_ok=True)
    (failures / os.environ["CONCERTINA_WORKER_ID"]).touch()
    while len(list(failures.iterdir())) < 2:
        time.sleep(0.01)


def leave_memory(megabytes: int) -> None:
    """Let this process get no more than this besides what it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + megabytes * MEGABYTE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=97)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--model-seed", type=int, default=0)
    parser.add_argument("--megabytes-per-sample", type=int, default=256)
    parser.add_argument("--megabytes", type=int, default=4096)
    parser.add_argument("--probes", action="store_true")
    parser.add_argument("--two-fail-at", type=Path, help="a folder where they wait for each other")
    parser.add_argument("--stop-file", type=Path)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(arguments.model_seed)
    job = elastic.init()
    x = torch.rand(arguments.samples, 4)
    data = TensorDataset(x, x.sum(1, keepdim=True))
    model = nn.Sequential(
        Hungry(arguments.megabytes_per_sample, arguments.two_fail_at), nn.Linear(4, 1)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    leave_memory(arguments.megabytes)
    job.register(
        model,
        optimizer,
        warm_up=(lambda count: model(x[:count]).sum().backward()) if arguments.probes else None,
    )
    for _ in job.epochs(arguments.epochs):
        for inputs, targets in job.batches(data, batch_size=20):
            loss = nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            time.sleep(0.01)
        if job.mean(float(arguments.stop_file.exists())) > 0:
            job.finish()
            break


if __name__ == "__main__":
    main()
