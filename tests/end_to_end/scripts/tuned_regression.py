"""A job whose loss falls as fast as its learning rate lets it; an epoch takes a few seconds."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import Dataset

import concertina_worker as elastic

SAMPLES = 32
SECONDS_PER_SAMPLE = 0.25


class Line(Dataset):
    """Samples of y = 3x + 1; reading one takes a while."""

    def __init__(self) -> None:
        self.x = torch.linspace(-1, 1, SAMPLES).unsqueeze(1)

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        time.sleep(SECONDS_PER_SAMPLE)
        return self.x[index], 3 * self.x[index] + 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--epochs", type=int, default=4)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    job = elastic.init()
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=arguments.lr)
    job.register(model, optimizer)
    for _ in job.epochs(arguments.epochs):
        for x, y in job.batches(Line(), batch_size=8):
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            job.log(loss=loss.item())


if __name__ == "__main__":
    main()
