"""One contestant of this benchmark: the same training loop with and without the elastic runtime.

It connects to the benchmark, and makes as many steps as it is told to whenever it is told to.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, DistributedSampler

import concertina_worker as elastic
from concertina_worker.training.gradients import layout

STORED = 256  # samples, which are used again and again
REPETITIONS = 400  # of them in an epoch: none ends while steps are timed
Pair = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A model with data for it."""

    model: Callable[[], nn.Module]
    data: Callable[[], list[Pair]]
    batch: int


def convolutions() -> nn.Module:
    """2.2 million parameters."""
    layers: list[nn.Module] = []
    for before, after in ((3, 32), (32, 64), (64, 128), (128, 256), (256, 512)):
        convolution = nn.Conv2d(before, after, 3, padding=1)
        layers += [convolution, nn.GroupNorm(8, after), nn.ReLU(), nn.MaxPool2d(2)]
    head = (nn.Flatten(), nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 100))
    return nn.Sequential(*layers, *head)


class Transformer(nn.Module):
    """11 million parameters in 76 tensors."""

    def __init__(self, *, width: int = 384, layers: int = 6, words: int = 512) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(self.layers(self.embedding(tokens)))
        return scores.transpose(1, 2)


def images() -> list[Pair]:
    inputs, targets = torch.rand(STORED, 3, 32, 32), torch.randint(100, (STORED,))
    return list(zip(inputs, targets, strict=True)) * REPETITIONS


def texts() -> list[Pair]:
    tokens = torch.randint(512, (STORED, 33))
    return list(zip(tokens[:, :-1], tokens[:, 1:], strict=True)) * REPETITIONS


WORKLOADS = {
    "convolutions": Workload(model=convolutions, data=images, batch=32),
    "transformer": Workload(model=Transformer, data=texts, batch=4),
}


class Gate:
    """Opens for a number of steps at a time; tells how long their parts took."""

    def __init__(self, address: str, contestant: str) -> None:
        host, _, port = address.rpartition(":")
        self._stream = socket.create_connection((host, int(port))).makefile("rw")
        self._steps_left = 0
        self._laps: list[dict[str, float]] = []
        self._at = time.perf_counter()
        self._cpu_at = time.process_time()
        self._say(contestant)

    def pass_through(self) -> None:
        """Wait between two steps while others have their turn."""
        if self._laps:
            self._laps[-1]["cpu"] = time.process_time() - self._cpu_at
        if self._steps_left == 0:
            if self._laps:
                self._say(self._laps)
            self._laps = []
            line = self._stream.readline()
            if not line:
                os._exit(0)
            self._steps_left = json.loads(line)
        self._steps_left -= 1
        self._laps.append({})
        self._at = time.perf_counter()
        self._cpu_at = time.process_time()

    def lap(self, part: str) -> None:
        now = time.perf_counter()
        self._laps[-1][part] = now - self._at
        self._at = now

    def _say(self, value: Any) -> None:
        self._stream.write(json.dumps(value) + "\n")
        self._stream.flush()


def usually(workload: Workload, _: nn.Module, __: torch.optim.Optimizer) -> Iterator[Pair]:
    """Batches as usual, in one process or for one of several."""
    data: Any = workload.data()
    if not torch.distributed.is_initialized():
        yield from DataLoader(data, workload.batch, shuffle=True)
    else:
        parts = torch.distributed.get_world_size()
        sampler: DistributedSampler[Pair] = DistributedSampler(data)
        yield from DataLoader(data, workload.batch // parts, sampler=sampler)


def elastically(
    workload: Workload, model: nn.Module, optimizer: torch.optim.Optimizer
) -> Iterator[Pair]:
    job = elastic.init()
    job.register(model, optimizer)
    for _ in job.epochs(1000):
        yield from job.batches(workload.data())


def train(workload: Workload, contestant: str, address: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = workload.model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    if contestant.startswith("DDP"):
        torch.distributed.init_process_group("gloo")
        model = nn.parallel.DistributedDataParallel(
            model, gradient_as_bucket_view=contestant == "DDP with views"
        )
    batches = elastically if contestant == "elastic" else usually
    gate: Gate | None = None
    for inputs, targets in batches(workload, model, optimizer):
        if gate is None:
            gate = Gate(address, contestant)
            gate.pass_through()
        gate.lap("data")
        loss = functional.cross_entropy(model(inputs), targets)
        gate.lap("forward")
        loss.backward()
        gate.lap("backward")
        optimizer.step()
        optimizer.zero_grad()
        gate.lap("optimizer")
        gate.pass_through()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", choices=WORKLOADS)
    parser.add_argument("--contestant", choices=("plain", "DDP", "DDP with views", "elastic"))
    parser.add_argument("--address", help="of the benchmark")
    parser.add_argument("--bucket-mib", type=int, help="of gradients that are exchanged at once")
    arguments, _ = parser.parse_known_args()
    if arguments.bucket_mib is not None:
        layout.BUCKET_BYTES = arguments.bucket_mib * 2**20  # type: ignore[misc]
    train(WORKLOADS[arguments.workload], arguments.contestant, arguments.address)


if __name__ == "__main__":
    main()
