"""A model of which each worker holds a part: small, in float64, so that steps can be compared."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import concertina_worker as elastic
from tests.worker.scripts import dooms
from tests.worker.scripts.regression import samples, write_result


def build_model() -> nn.Sequential:
    """Of seven rows and of one: no number of workers divides both."""
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 7), nn.Tanh(), nn.Linear(7, 16), nn.Tanh(), nn.Linear(16, 1))


def shard(model: nn.Sequential, mesh: Any) -> None:
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)


class Rows(IterableDataset[Any]):
    """The same samples, of which nobody knows beforehand how many there are."""

    def __init__(self, data: TensorDataset) -> None:
        self._data = data

    def __iter__(self) -> Iterator[Any]:
        return (self._data[number] for number in range(len(self._data)))


def whole(tensor: torch.Tensor) -> list[Any]:
    """All of it; every worker calls it."""
    found: list[Any] = (tensor.full_tensor() if isinstance(tensor, DTensor) else tensor).tolist()
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=20, help="of a worker alone")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--step-seconds", type=float, default=0.02)
    parser.add_argument("--clip", type=float, default=0.5)
    parser.add_argument("--whole", action="store_true", help="do not shard it")
    parser.add_argument("--stream", action="store_true", help="of samples, one by one")
    parser.add_argument("--model-seed", type=int)
    parser.add_argument("--doom", type=Path, help="where it is written when this worker dies")
    parser.add_argument("--stop-file", type=Path, help="end after the epoch in which it appears")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.doom is not None:
        dooms.watch_for(arguments.doom / os.environ["CONCERTINA_WORKER_ID"])
    job = elastic.init()
    data: Any = TensorDataset(*samples(arguments, job.device))
    if arguments.stream:
        data = DataLoader(Rows(data), batch_size=arguments.batch_size)
    model = build_model().double().to(job.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.999)
    job.register(model, optimizer, scheduler, shard=None if arguments.whole else shard)
    epoch = -1
    for epoch in job.epochs(arguments.epochs):  # noqa: B007 - the result tells the last one
        for inputs, targets in job.batches(
            data, batch_size=None if arguments.stream else arguments.batch_size
        ):
            loss = nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), arguments.clip)
            time.sleep(arguments.step_seconds)
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
            job.log(loss=loss.item())
        is_enough = arguments.stop_file is not None and arguments.stop_file.exists()
        if job.mean(float(is_enough)) > 0:
            job.finish()
            break
    document = {
        "parameters": [whole(parameter) for parameter in model.parameters()],
        "epochs": epoch + 1,
        "rate": optimizer.param_groups[0]["lr"],
        "rank": job.rank,
    }
    write_result(arguments.out, document)


if __name__ == "__main__":
    main()
