"""For how long does writing a checkpoint hold up the training?

    python benchmarks/checkpoint_stall.py [--folder FOLDER]

Twice: the copy to memory, during which no step is made, and the time a step takes longer while a
thread writes the copy to disk. Adam on one layer; the checkpoint is three times the parameters.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch
from torch import nn

from concertina_worker.checkpoint_files import CheckpointDescription
from concertina_worker.environment import CheckpointRules
from concertina_worker.state.checkpoints.writer import CheckpointWriter
from concertina_worker.state.training_state import TrainingState

REPEATS = 5
_HEADINGS = ("parameters", "on disk", "copy", "write", "step", "meanwhile", "longest")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where to write; default: a temporary one")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    _print("  ".join(f"{heading:>10}" for heading in _HEADINGS))
    for width in (1450, 5050):  # 2.1 and 25.5 million parameters
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            _print(_measure(width, Path(folder)))
    _print(f"load average {os.getloadavg()[0]:.1f}; medians of {REPEATS}, `longest` of all steps")


def _measure(width: int, folder: Path) -> str:
    model = nn.Linear(width, width, bias=False)
    optimizer = torch.optim.Adam(model.parameters())
    step = _stepper(model, optimizer)
    state = TrainingState(model, [optimizer], {})
    state.is_complete = True
    written: list[int] = []
    rules = CheckpointRules(folder=folder, interval_seconds=0.0, keep_last=1)
    writer = CheckpointWriter(rules, written.append)
    usual = [step() for _ in range(10)]
    copies, writes, meanwhile = [], [], []
    for number in range(REPEATS):
        began = time.monotonic()
        content = state.to_checkpoint()
        copies.append(time.monotonic() - began)
        writer.write_in_background(content, CheckpointDescription(step=number))
        while writer.is_busy:
            meanwhile.append(step())
        if len(written) <= number:
            raise SystemExit(f"no checkpoint could be written to {folder}: see above")
        writes.append(time.monotonic() - began)
    size = sum(path.stat().st_size for path in folder.glob("step-*")) / 1e6
    seconds = (median(copies), median(writes), median(usual), median(meanwhile), max(meanwhile))
    columns = [f"{width**2 / 1e6:.1f} M", f"{size:.0f} MB", *(f"{s:.3f} s" for s in seconds)]
    return "  ".join(f"{column:>10}" for column in columns)


def _stepper(model: nn.Module, optimizer: torch.optim.Optimizer) -> Callable[[], float]:
    x = torch.rand(8, next(model.parameters()).shape[1])

    def step() -> float:
        began = time.monotonic()
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        return time.monotonic() - began

    return step


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
