"""How long from submit to the first training step? Run `python benchmarks/first_step.py`.

Starts a stack of its own in an empty folder, submits the same small job again and again over REST,
and prints for each phase the median and the maximum, in seconds since the submit: accepted (the
answer is back), starting (GPUs claimed, processes asked for), first step (the first step's report
reached the database). The worker's share, mostly `import torch`, is measured beside it in the same
run by starting a bare Python process that only imports torch.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from local_stack import checkout as checkouts
from local_stack import secrets_file
from local_stack.stack import background
from local_stack.stack.stack import Options

from concertina.client import Client

SCRIPT = Path(__file__).resolve().parents[1] / "examples" / "digits_cnn.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Seconds since the submit, and of a bare import of torch at about the same time."""

    accepted: float
    starting: float
    first_step: float
    bare_import: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory(prefix="concertina-first-step-") as folder:
        checkout = checkouts.find(home=Path(folder) / "state")
        print("Starting a stack of its own…", flush=True)
        record = background.start(checkout, Options(slots=2), ends_with_us=True, say=lambda _: None)
        try:
            token = secrets_file.load_or_create(checkout).tokens["vision"]
            with Client(record.url, token) as client:
                runs = [measure(client, number) for number in range(repeats)]
        finally:
            background.stop(checkout, say=lambda _: None)
    report(runs)


def measure(client: Client, number: int) -> Run:
    """Submit one job, follow it to its first step, and cancel it."""
    began = time.monotonic()
    job = client.submit(
        {"name": f"first-step-{number}", "command": ["python", str(SCRIPT), "--epochs", "50"]}
    ).job
    accepted = time.monotonic() - began
    starting = seconds_until(lambda: client.job(job["id"])["state"] != "queued", began)
    first_step = seconds_until(lambda: client.job(job["id"])["step"] > 0, began)
    client.cancel(job["id"])
    seconds_until(lambda: client.job(job["id"])["finished_at"] is not None, began)
    return Run(
        accepted=accepted, starting=starting, first_step=first_step, bare_import=import_torch()
    )


def seconds_until(condition: Callable[[], bool], began: float) -> float:
    while not condition():
        time.sleep(0.02)
    return time.monotonic() - began


def import_torch() -> float:
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    return time.monotonic() - began


def report(runs: list[Run]) -> None:
    print(f"\n{len(runs)} submits, load average {os.getloadavg()[0]:.1f}\n")
    print(f"{'since submit':<22}{'median':>9}{'max':>9}")
    for name in ("accepted", "starting", "first_step"):
        seconds = [getattr(run, name) for run in runs]
        print(f"{name.replace('_', ' '):<22}{median(seconds):>8.2f}s{max(seconds):>8.2f}s")
    bare = [run.bare_import for run in runs]
    print(f"{'bare import of torch':<22}{median(bare):>8.2f}s{max(bare):>8.2f}s")


if __name__ == "__main__":
    main()
