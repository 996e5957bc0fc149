"""A job whose step time is set by a sleep per sample, so that it scales the same on any machine."""

import argparse
import itertools
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import Dataset

import concertina_worker as elastic


class Line(Dataset):
    """Samples of y = 3x + 1; reading one takes `seconds`."""

    def __init__(self, size: int, seconds: float) -> None:
        self.x = torch.linspace(-1, 1, size).unsqueeze(1)
        self.seconds = seconds

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        time.sleep(self.seconds)
        return self.x[index], 3 * self.x[index] + 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--epochs", type=int, default=100_000, help="if nothing stops it before")
    parser.add_argument("--stop-file", type=Path, help="end after the epoch in which it appears")
    parser.add_argument("--seconds-per-sample", type=float, default=0.01)
    parser.add_argument("--chatty", action="store_true", help="count the steps aloud")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(1)
    job = elastic.init()
    data = Line(arguments.samples, arguments.seconds_per_sample)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    job.register(model, optimizer)
    lines = itertools.count()
    for _ in job.epochs(arguments.epochs):
        for x, y in job.batches(data, batch_size=16):
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            job.log(loss=loss.item())
            if arguments.chatty:
                print("line", next(lines), flush=True)
        is_enough = arguments.stop_file is not None and arguments.stop_file.exists()
        if job.mean(float(is_enough)) > 0:
            job.finish()
            break
    if job.is_main:
        print(f"weight {model.weight.item():.3f} bias {model.bias.item():.3f}")


if __name__ == "__main__":
    main()
