"""Trains three epochs of two steps, unless it is told to end somewhere before."""

from __future__ import annotations

import argparse
import sys

import torch
from torch import nn

import concertina_worker as elastic


def main(where: str) -> None:
    job = elastic.init()
    if where == "before job.register":
        return
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    job.register(model, optimizer)
    if where == "by SystemExit":
        raise SystemExit(3)
    if where == "before its epochs began":
        return
    data = torch.utils.data.TensorDataset(torch.ones(4, 1))
    for epoch in job.epochs(3):
        for (inputs,) in job.batches(data, batch_size=2):
            model(inputs).mean().backward()
            optimizer.step()
            in_epoch(job, where, epoch)
        assert where != "finished after an epoch" or epoch == 0
        if behind_epoch(job, where, epoch):
            break


def in_epoch(job: elastic.Job, where: str, epoch: int) -> None:
    if where == "in epoch 2 of 3" and epoch == 1:
        sys.exit(0)
    if where == "finished in an epoch" and epoch == 1:
        job.finish()
        sys.exit()


def behind_epoch(job: elastic.Job, where: str, epoch: int) -> bool:
    if where == "finished after an epoch":
        job.finish()
    if where == "behind the last" and epoch == 2:
        sys.exit(0)
    if where == "by a code of its own":
        exit(3)  # noqa: PLR1722 - as people write it
    return where == "after epoch 1 of 3"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--where", required=True)
    main(parser.parse_known_args()[0].where)
