"""The training of `container_overhead`: as anybody would write it, or with the elastic library.

Runs in a container of its own. Makes some steps to warm up, then the timed ones, and prints how
long those took. Neither the library nor the network is used when it is plain.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

BATCH = 32
WARM_UP = 25  # steps: caches fill, and gradient noise is measured in each of them
STORED = 256  # samples, which are used again and again


def network() -> nn.Module:
    """2.2 million parameters."""
    layers: list[nn.Module] = []
    for before, after in ((3, 32), (32, 64), (64, 128), (128, 256), (256, 512)):
        convolution = nn.Conv2d(before, after, 3, padding=1)
        layers += [convolution, nn.GroupNorm(8, after), nn.ReLU(), nn.MaxPool2d(2)]
    head = (nn.Flatten(), nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 100))
    return nn.Sequential(*layers, *head)


Batches = Iterator[tuple[torch.Tensor, torch.Tensor]]


def plainly(data: TensorDataset, epochs: int) -> Batches:
    for _ in range(epochs):
        yield from DataLoader(data, BATCH, shuffle=True)


def elastically(
    data: TensorDataset, epochs: int, model: nn.Module, optimizer: torch.optim.Optimizer
) -> Batches:
    import concertina_worker as elastic  # noqa: PLC0415 - the plain one must not load it

    job = elastic.init()
    job.register(model, optimizer)
    try:
        for _ in job.epochs(epochs):
            yield from job.batches(data)
    finally:  # whoever reads it has had enough
        job.finish()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("contestant", choices=("plain", "elastic"))
    parser.add_argument("--steps", type=int, required=True, help="timed ones")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    data = TensorDataset(torch.rand(STORED, 3, 32, 32), torch.randint(100, (STORED,)))
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    steps = WARM_UP + arguments.steps
    epochs = -(-steps * BATCH // STORED)
    is_plain = arguments.contestant == "plain"
    batches = plainly(data, epochs) if is_plain else elastically(data, epochs, model, optimizer)
    began = 0.0
    for number, (inputs, targets) in enumerate(batches):
        if number == WARM_UP:
            began = time.perf_counter()
        if number == steps:
            break
        functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
        optimizer.zero_grad()
        last = time.perf_counter()
    print(json.dumps({"steps": arguments.steps, "seconds": last - began}), flush=True)


if __name__ == "__main__":
    main()
