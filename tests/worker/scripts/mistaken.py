"""A small script with one mistake, named by its argument."""

from __future__ import annotations

import contextlib
import os
import sys
from itertools import islice

import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import concertina_worker as elastic

EPOCHS = 2


BY_ITSELF = ("exits by itself", "raises its exit", "shows errors by itself")


def fail_by_itself(way: str) -> None:
    """As hydra, click and rich do."""
    if way == "shows errors by itself":
        sys.excepthook = lambda *_: print("oops", flush=True)
        float("too bad")
    try:
        float("too bad")
    except ValueError:
        if way == "raises its exit":
            raise SystemExit(1)  # noqa: B904 - as scripts do
        sys.exit(1)


def main() -> None:  # noqa: C901, PLR0912 - one mistake each
    mistake = sys.argv[1]
    torch.set_num_threads(1)
    if mistake == "reads the environment before":
        print(os.environ.get("WORLD_SIZE", "1"))
    job = elastic.init()
    data = TensorDataset(torch.rand(40, 3))
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if mistake == "reads the number of workers early":
        print("every", 40 // job.world_size)
    if mistake == "reads the environment":
        print(os.environ["WORLD_SIZE"])
    if mistake == "forms a process group":
        torch.distributed.init_process_group("gloo")
    if mistake == "forms a process group of its own":
        store = torch.distributed.HashStore()
        torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    if mistake == "splits the data itself":
        DistributedSampler(data)
    if mistake == "counts samples":
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * len(data))
        job.register(model, optimizer, scheduler)
    elif mistake != "does not register":
        job.register(model, optimizer)
    loader = DataLoader(data, batch_size=8)
    if mistake == "catches the exit":
        for _ in job.epochs(100000):
            with contextlib.suppress(SystemExit):
                for (inputs,) in job.batches(loader):
                    model(inputs).mean().backward()
                    optimizer.step()
    try:
        limit = EPOCHS if mistake == "has a limit of its own" else None
        for _ in islice(job.epochs(EPOCHS), limit):
            if mistake in BY_ITSELF:
                fail_by_itself(mistake)
            own = mistake == "uses batches of its own"
            for (inputs,) in loader if own else job.batches(loader):
                output = model(inputs)
                (output.sum() if mistake == "sums its loss" else output.mean()).backward()
                if mistake != "forgets the optimizer":
                    optimizer.step()
                if mistake == "counts samples":
                    scheduler.step()
            if mistake == "changes the model":
                model.bias = nn.Parameter(torch.zeros(1))
    finally:
        print("through", flush=True)


if __name__ == "__main__":
    main()
