"""A job that prints every step, slowly, so that its log can be followed in a browser."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import TensorDataset

import concertina_worker as elastic


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=200)
    arguments = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(1)
    job = elastic.init()
    x = torch.linspace(-1, 1, 512).unsqueeze(1)
    data = TensorDataset(x, 3 * x + 1)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    job.register(model, optimizer)
    for epoch in job.epochs(arguments.epochs):
        for inputs, targets in job.batches(data, batch_size=32):
            loss = nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            job.log(loss=loss.item())
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
            time.sleep(0.1)


if __name__ == "__main__":
    main()
