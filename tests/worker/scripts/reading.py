"""A job that reads its data in every way there is; its result depends on every sample's content."""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset

import concertina_worker as elastic

FEATURES = 4


class Noisy(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Samples that are augmented at random, from two generators."""

    def __init__(self, length: int, dtype: torch.dtype) -> None:
        generator = torch.Generator().manual_seed(7)
        self.x = torch.rand(length, FEATURES, generator=generator, dtype=dtype)
        self.y = (self.x**2).sum(1, keepdim=True)

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        noise = torch.rand(FEATURES, dtype=self.x.dtype) * random.random()  # noqa: S311 - no secret
        return self.x[index] + 0.1 * noise, self.y[index]


class Stream(IterableDataset[Any]):
    """The same samples one after the other; each epoch another order, by a shuffle buffer."""

    def __init__(self, samples: Noisy) -> None:
        self.samples = samples

    def __iter__(self) -> Iterator[Any]:
        yield from self.read_on(0, [])

    def read_on(self, start: int, buffer: list[int]) -> Iterator[Any]:
        for index in range(start, len(self.samples)):
            buffer.append(index)
            if len(buffer) > 10:
                chosen = buffer.pop(random.randrange(len(buffer)))  # noqa: S311 - no secret
                self.place = {"next": index + 1, "buffer": list(buffer)}
                yield self.samples[chosen]
        while buffer:
            chosen = buffer.pop(0)
            self.place = {"next": len(self.samples), "buffer": list(buffer)}
            yield self.samples[chosen]


class TellingStream(Stream):
    """Can go on where it was; the log tells where it was begun."""

    start: dict[str, Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        start, self.start = self.start or {"next": 0, "buffer": []}, None
        print("the stream goes on at", start["next"], flush=True)
        yield from self.read_on(start["next"], list(start["buffer"]))

    def state_dict(self) -> dict[str, Any]:
        return self.place

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.start = state


def data_of(arguments: argparse.Namespace, samples: Noisy) -> Any:
    stream = TellingStream if arguments.tells else Stream
    dataset: Any = stream(samples) if arguments.stream else samples
    if not arguments.processes:
        return dataset
    return DataLoader(
        dataset,
        batch_size=20,
        shuffle=None if arguments.stream else True,
        num_workers=arguments.processes,
        persistent_workers=arguments.persistent,
    )


def train(job: elastic.Job, arguments: argparse.Namespace) -> dict[str, Any]:
    dtype = torch.float32 if arguments.single else torch.float64
    data = data_of(arguments, Noisy(arguments.samples, dtype))
    torch.manual_seed(arguments.model_seed)
    model = nn.Sequential(nn.Linear(FEATURES, 16), nn.Tanh(), nn.Linear(16, 1)).to(dtype)
    optimizer: torch.optim.Optimizer = (
        torch.optim.Adam(model.parameters(), lr=0.01)
        if arguments.adam
        else torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    )
    job.register(model, optimizer, data=data)
    epoch = -1
    for epoch in job.epochs(arguments.epochs):  # noqa: B007 - the result tells the last one
        for inputs, targets in job.batches(data, *(() if arguments.processes else (20,))):
            nn.functional.mse_loss(model(inputs), targets).backward()
            time.sleep(arguments.step_seconds)
            optimizer.step()
            optimizer.zero_grad()
        is_enough = arguments.stop_file is not None and arguments.stop_file.exists()
        if job.mean(float(is_enough)) > 0:
            job.finish()
            break
    return {"parameters": [p.tolist() for p in model.parameters()], "epochs": epoch + 1, "rate": 0}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--step-seconds", type=float, default=0.02)
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--tells", action="store_true", help="of a stream: where it stands")
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--persistent", action="store_true")
    parser.add_argument("--single", action="store_true", help="float32")
    parser.add_argument("--adam", action="store_true")
    parser.add_argument("--model-seed", type=int, default=os.getpid())
    parser.add_argument("--stop-file", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    document = train(elastic.init(), arguments)
    arguments.out.mkdir(parents=True, exist_ok=True)
    worker = os.environ.get("CONCERTINA_WORKER_ID", "alone")
    (arguments.out / f"{worker}.json").write_text(json.dumps(document))


if __name__ == "__main__":
    main()
