"""The training: `script.py <way> <folder>`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import concertina_worker as elastic
from benchmarks.rescale_stall.elastic_script import train
from concertina_worker.samples.loading.prefetch import Prefetch

BATCH = 20
SAMPLE_SECONDS = 0.005
STEP_SECONDS = 0.06


class Slow(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Each sample takes its time, without needing a core."""

    def __len__(self) -> int:
        return 4000

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        time.sleep(SAMPLE_SECONDS)
        x = torch.rand(4)
        return x, (x**2).sum(0, keepdim=True)


def main(way: str, folder: Path) -> None:
    torch.set_num_threads(1)
    if way == "at once":
        Prefetch.steps_ahead = property(lambda _: 0)  # type: ignore[method-assign, assignment]
    job = elastic.init()
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    processes = 0 if way == "in worker" else 3
    loader = DataLoader(Slow(), batch_size=BATCH, shuffle=True, num_workers=processes)
    job.register(model, optimizer, data=None if way == "cold" else loader)
    train(job, model, optimizer, lambda: job.batches(loader), folder, pause_seconds=STEP_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
