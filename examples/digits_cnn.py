"""Handwritten digits with a small convolutional network: an ordinary script, made elastic.

The lines that make it so are marked with `elastic`. It also runs alone: `python digits_cnn.py`.
"""

from __future__ import annotations

import argparse

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it so
from torch.utils.data import TensorDataset

import concertina_worker as elastic


def load() -> tuple[TensorDataset, TensorDataset]:
    """1,797 images of 8 x 8 pixels; every fifth is held out."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    is_held_out = torch.arange(len(labels)) % 5 == 0
    return (
        TensorDataset(images[~is_held_out], labels[~is_held_out]),
        TensorDataset(images[is_held_out], labels[is_held_out]),
    )


def network(width: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, padding=1),
        nn.BatchNorm2d(2 * width),
        nn.ReLU(),
        nn.Conv2d(2 * width, 2 * width, 3, padding=1),
        nn.BatchNorm2d(2 * width),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(8 * width, 10),
    )


@torch.no_grad()
def accuracy(model: nn.Module, data: TensorDataset, job: elastic.Job) -> float:
    """Of this worker's part of the held-out images."""
    model.eval()
    images, labels = (t[job.rank :: job.world_size].to(job.device) for t in data.tensors)
    correct = (model(images).argmax(1) == labels).double().mean().item()
    model.train()
    return correct


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--width", type=int, default=64, help="channels of the first layer")
    parser.add_argument("--batch-size", type=int, default=64, help="when run alone")
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(1)

    training, held_out = load()
    job = elastic.init()  # elastic
    model = network(arguments.width).to(job.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=arguments.learning_rate, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, arguments.epochs)
    some = training.tensors[0][:8].to(job.device)
    job.register(  # elastic
        model, optimizer, scheduler, warm_up=lambda: model(some).sum().backward()
    )
    for epoch in job.epochs(arguments.epochs):  # elastic
        for images, labels in job.batches(training, batch_size=arguments.batch_size):  # elastic
            images, labels = images.to(job.device), labels.to(job.device)  # noqa: PLW2901
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            job.log(loss=loss.item())
        scheduler.step()
        correct = job.mean(accuracy(model, held_out, job))
        job.log(accuracy=correct)
        if job.is_main:
            print(
                f"epoch {epoch + 1}/{arguments.epochs} loss {loss.item():.4f} "
                f"accuracy {correct:.3f} workers {job.world_size}",
                flush=True,
            )


if __name__ == "__main__":
    main()
