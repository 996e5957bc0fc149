"""The job of the worker tests: a small float64 regression whose every step can be compared."""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import TensorDataset

import concertina_worker as elastic
from concertina_worker.state import portions
from concertina_worker.state.handover import Handover
from concertina_worker.training.reporting import pace
from tests.worker.scripts import dooms


def build_model(arguments: argparse.Namespace) -> nn.Module:
    torch.manual_seed(arguments.model_seed)
    layers: list[nn.Module] = [nn.Linear(4, 16), nn.Tanh()]
    if arguments.batch_norm:
        layers.append(nn.BatchNorm1d(16))
    model = nn.Sequential(*layers, nn.Linear(16, 1)).double()
    if arguments.compile:
        return torch.compile(model, backend="aot_eager", dynamic=True)
    return model


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=20, help="of a worker alone")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--step-seconds", type=float, default=0.02)
    parser.add_argument("--adam", action="store_true")
    parser.add_argument("--batch-norm", action="store_true")
    parser.add_argument("--compile", action="store_true", help="the model, without generated code")
    parser.add_argument("--two-backwards", action="store_true", help="in a block of their own")
    parser.add_argument(
        "--clip", type=float, default=math.inf, help="to this norm of the whole gradient"
    )
    parser.add_argument("--scaled", action="store_true", help="loss scaler and weight average")
    parser.add_argument("--model-seed", type=int, default=os.getpid())
    parser.add_argument("--crash-at-step", type=int)
    parser.add_argument("--doom", type=Path, help="where it is written when this worker dies")
    parser.add_argument("--one-portion-a-step", action="store_true", help="of a joiner's state")
    parser.add_argument("--pace-seconds", type=float, help="until a worker tells its pace again")
    parser.add_argument("--stop-file", type=Path, help="end after the epoch in which it appears")
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


def build_optimizer(arguments: argparse.Namespace, model: nn.Module) -> torch.optim.Optimizer:
    if arguments.adam:
        return torch.optim.Adam(model.parameters(), lr=0.01)
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def prepare(arguments: argparse.Namespace) -> None:
    """What a test wants to happen at a certain moment, or at another pace."""
    if arguments.pace_seconds is not None:
        pace.REPORT_SECONDS = arguments.pace_seconds
    if arguments.doom is not None:
        dooms.watch_for(arguments.doom / os.environ["CONCERTINA_WORKER_ID"])
    if arguments.one_portion_a_step:
        portions.PORTION_BYTES = 1  # type: ignore[misc] # a parameter each, of which there are four
        Handover._goes_on = lambda _: False  # type: ignore[method-assign] # noqa: SLF001 - fast steps


def samples(arguments: argparse.Namespace, device: torch.device) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(7)
    x = torch.rand(arguments.samples, 4, generator=generator, dtype=torch.float64)
    x = x.to(device)
    return x, (x**2).sum(1, keepdim=True)


def main() -> None:
    arguments = read_arguments()
    torch.set_num_threads(1)
    prepare(arguments)
    job = elastic.init()
    data = TensorDataset(*samples(arguments, job.device))
    model = build_model(arguments).to(job.device)
    optimizer = build_optimizer(arguments, model)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.999)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    scaler = torch.amp.GradScaler("cpu", 2.0**10, growth_interval=3, enabled=arguments.scaled)
    job.register(model, optimizer, scheduler)
    if arguments.scaled:
        job.state("average", average)
        job.state("scaler", scaler)
    steps, epoch = 0, -1
    for epoch in job.epochs(arguments.epochs):  # noqa: B007 - the result tells the last one
        for inputs, targets in job.batches(data, batch_size=arguments.batch_size):
            with job.step() if arguments.two_backwards else nullcontext():
                loss = nn.functional.mse_loss(model(inputs), targets)
                overflows = arguments.scaled and (inputs == data[13][0]).all(1).any()
                scaler.scale(loss * (math.inf if overflows else 1)).backward()
                if arguments.two_backwards:
                    model(inputs).abs().mean().backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), arguments.clip)
            time.sleep(arguments.step_seconds)
            scaler.step(optimizer)
            scaler.update()
            average.update_parameters(model)
            optimizer.zero_grad()
            scheduler.step()
            steps += 1
            if steps == arguments.crash_at_step:
                raise ValueError("the script has a fault")
            job.log(loss=loss.item())
        job.log(epoch_loss=job.mean(loss.item()))
        is_enough = arguments.stop_file is not None and arguments.stop_file.exists()
        if job.mean(float(is_enough)) > 0:
            job.finish()
            break
    job.log(final=1.0)
    document = {
        "parameters": [p.tolist() for p in model.parameters()],
        "epochs": epoch + 1,
        "rate": optimizer.param_groups[0]["lr"],
        "rank": job.rank,
        "scale": scaler.get_scale(),
        "average": [p.tolist() for p in average.parameters()],
    }
    write_result(arguments.out, document)


def write_result(folder: Path, document: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    worker = os.environ.get("CONCERTINA_WORKER_ID", "alone")
    (folder / f"{worker}.json").write_text(json.dumps(document))


if __name__ == "__main__":
    main()
