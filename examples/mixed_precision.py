"""Mixed precision, clipping, batch normalisation, schedulers and a weight average, all elastic.

The lines that make the script elastic are marked with `elastic`. It also runs alone:
`python mixed_precision.py`, on a GPU if there is one.
"""

from __future__ import annotations

import argparse

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it so
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
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


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(256, 10),
    )


@torch.no_grad()
def accuracy(model: nn.Module, data: TensorDataset, device: torch.device) -> float:
    model.eval()
    images, labels = (tensor.to(device) for tensor in data.tensors)
    return (model(images).argmax(1) == labels).double().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=64, help="when run alone")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    job = elastic.init()  # elastic
    device = job.device  # elastic
    narrow = torch.float16 if device.type == "cuda" else torch.bfloat16

    training, held_out = load()
    model = network().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
    scheduler = ReduceLROnPlateau(optimizer, patience=3)
    scaler = torch.amp.GradScaler(device.type, init_scale=2.0**10, growth_interval=50)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.95), use_buffers=True)
    job.register(model, optimizer, scheduler)  # elastic
    job.state("scaler", scaler)  # elastic: or newcomers would begin with a scale of their own
    job.state("average", average)  # elastic
    for epoch in job.epochs(arguments.epochs):  # elastic
        model.train()
        for images, labels in job.batches(training, arguments.batch_size):  # elastic
            with torch.autocast(device.type, dtype=narrow):
                loss = F.cross_entropy(model(images.to(device)), labels.to(device))
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            average.update_parameters(model)
            job.log(loss=loss.item(), scale=scaler.get_scale())
        scheduler.step(job.mean(loss.item()))  # elastic: the same loss on all workers
        correct = job.mean(accuracy(average, held_out, device))
        job.log(accuracy=correct)
        if job.is_main:
            print(f"epoch {epoch + 1} accuracy {correct:.3f} workers {job.world_size}", flush=True)


if __name__ == "__main__":
    main()
