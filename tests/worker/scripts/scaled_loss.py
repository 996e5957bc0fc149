"""A job with a loss scaler, whose gradient is no number wherever one certain sample is."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import TensorDataset

import concertina_worker as elastic

SAMPLES = 41
POISONED = 17


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--out", type=Path)
    arguments, _ = parser.parse_known_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    job = elastic.init()
    inputs = torch.rand(SAMPLES, 4, dtype=torch.float64)
    targets = inputs.square().sum(1, keepdim=True)
    targets[POISONED] = torch.inf
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=4)
    job.register(model, optimizer)
    job.state("scaler", scaler)
    for _ in job.epochs(arguments.epochs):
        for rows, wanted in job.batches(TensorDataset(inputs, targets), batch_size=8):
            loss = nn.functional.mse_loss(model(rows), wanted)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    document = {
        "parameters": [parameter.tolist() for parameter in model.parameters()],
        "scale": scaler.get_scale(),
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    worker = os.environ.get("CONCERTINA_WORKER_ID", "alone")
    (arguments.out / f"{worker}.json").write_text(json.dumps(document))


if __name__ == "__main__":
    main()
