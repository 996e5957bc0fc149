"""Workers that take means: between epochs and, when told so, for every micro-batch."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import TensorDataset

import concertina_worker as elastic

EPOCHS = 2
KILLED = "w2"  # by itself, once told so, just before it would take part in a mean


def main() -> None:
    folder, takes_many = Path(sys.argv[1]), "for-every-micro-batch" in sys.argv
    main_alone = "main-alone" in sys.argv
    worker = os.environ["CONCERTINA_WORKER_ID"]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    job = elastic.init()
    inputs = torch.rand(97, 4)
    data = TensorDataset(inputs, inputs.sum(1, keepdim=True))
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    job.register(model, optimizer)
    seen = []
    is_told = False  # on all of them in the same epoch, because a mean has told them
    for epoch in job.epochs(EPOCHS if takes_many else 100000):
        for x, y in job.batches(data, 20):
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            if takes_many:
                seen.append(job.mean(float(job.rank + 1)))
            time.sleep(0.005)
        if is_told and worker == KILLED:
            os.kill(os.getpid(), signal.SIGKILL)
        if main_alone and not job.is_main:
            continue
        mean = job.mean(float((folder / "now").exists()))
        if is_told:
            seen = [job.is_main, job.world_size, mean]
            (folder / f"{worker}.json").write_text(json.dumps(seen))
        is_told = mean > 0 and job.world_size == 3 and not seen
        if (folder / f"{worker}.json").exists() and epoch % 2:
            job.finish()
            break
    if takes_many:
        (folder / f"{worker}.json").write_text(json.dumps(seen))


if __name__ == "__main__":
    main()
