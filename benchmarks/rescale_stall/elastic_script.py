"""The training as a script of this runtime: `elastic_script.py <model> <folder>`."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from torch import nn

import concertina_worker as elastic
from benchmarks.rescale_stall import models
from benchmarks.rescale_stall.timeline import StepWriter


def main(name: str, folder: Path) -> None:
    logging.basicConfig(level=logging.INFO)
    torch.set_num_threads(1)
    job = elastic.init()
    model, data = models.build(name), models.data(name)
    optimizer = torch.optim.Adam(model.parameters(), lr=models.LEARNING_RATE)
    job.register(model, optimizer)
    train(job, model, optimizer, lambda: job.batches(data, models.BATCH[name]), folder)


def train(
    job: elastic.Job,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Callable[[], Iterable[tuple[torch.Tensor, torch.Tensor]]],
    folder: Path,
    *,
    pause_seconds: float = 0.0,
) -> None:
    """Train until the process is ended, each step longer by the pause; tell each step's time."""
    steps = StepWriter(folder / "steps")
    number = 0
    for _ in job.epochs(1_000_000):
        for inputs, targets in batches():
            nn.functional.mse_loss(model(inputs), targets).backward()
            time.sleep(pause_seconds)
            optimizer.step()
            optimizer.zero_grad()
            number += 1
            steps.add(number, job.world_size)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
