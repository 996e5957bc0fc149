"""A job that prints every step and gains from workers, so that it can be watched in a browser."""

import time

import torch
from torch import nn
from torch.utils.data import Dataset

import concertina_worker as elastic

EPOCHS = 100_000  # until it is cancelled
SECONDS_PER_SAMPLE = 0.01


class Line(Dataset):
    """Samples of y = 3x + 1; reading one takes a while, so that workers share the time."""

    def __init__(self, size: int) -> None:
        self.x = torch.linspace(-1, 1, size).unsqueeze(1)

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        time.sleep(SECONDS_PER_SAMPLE)
        return self.x[index], 3 * self.x[index] + 1


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    job = elastic.init()
    data = Line(1000)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    job.register(model, optimizer)
    for epoch in job.epochs(EPOCHS):
        for step, (x, y) in enumerate(job.batches(data, batch_size=16)):
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            job.log(loss=loss.item())
            print(f"epoch {epoch} step {step} loss {loss.item():.6f}", flush=True)


if __name__ == "__main__":
    main()
