"""Handwritten digits with DistributedDataParallel, made elastic: changed lines say what they were.

It also runs alone: `python ddp_digits.py`.
"""

from __future__ import annotations

import argparse

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it so
from torch.utils.data import DataLoader, TensorDataset

import concertina_worker as elastic


def load() -> TensorDataset:
    """1,797 images of 8 x 8 pixels."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32) / 16
    return TensorDataset(images, torch.tensor(digits.target))


def network() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=32, help="when run alone")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)

    job = elastic.init()  # was: dist.init_process_group("gloo")
    model = job.ddp(network().to(job.device))  # was: DistributedDataParallel(network().to(…))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    job.register(model, optimizer)  # new
    loader = DataLoader(load(), arguments.batch_size)  # was: with a DistributedSampler
    for epoch in job.epochs(arguments.epochs):  # was: range(arguments.epochs)
        for images, labels in job.batches(loader):  # was: in loader
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images.to(job.device)), labels.to(job.device))
            loss.backward()
            optimizer.step()
            job.log(loss=loss.item())
        if job.is_main:  # was: dist.get_rank() == 0
            print(f"epoch {epoch + 1} loss {loss.item():.4f} workers {job.world_size}", flush=True)


if __name__ == "__main__":
    main()
