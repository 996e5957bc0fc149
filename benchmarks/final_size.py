"""How soon does a job have its size? Run `python benchmarks/final_size.py [--host simulated]`.

Starts a stack of its own in an empty folder and submits eight short jobs, one after the other. Of
each it prints the workers and batches that it went through, when it first had the most workers that
it ever had, in seconds since its first generation, and how long it took. With the host `process`
the jobs are real trainings that share this machine's cores; with `simulated` training is played,
and scales as `docs/operations/worker-hosts.md` says, while service and coordinators are the real
ones.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from local_stack import checkout as checkouts
from local_stack import secrets_file
from local_stack.stack import background
from local_stack.stack.stack import Options

from concertina.client import Client

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCRIPT: Final = Path(__file__).resolve().parents[1] / "examples" / "digits_cnn.py"
COMMANDS: Final[Mapping[str, list[str]]] = {
    "process": ["python", str(SCRIPT), "--epochs", "30"],
    "simulated": ["simulated", "--samples", "150000"],  # five minutes on one worker
}
SLOTS: Final[Mapping[str, int]] = {"process": 4, "simulated": 16}
LOOK_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What one job went through. Times are seconds since its first generation."""

    name: str
    sizes: tuple[tuple[float, int, int], ...]  # since when, workers, batch; none: never trained
    seconds: float  # from its submission to its end

    @property
    def most_after(self) -> float:
        """When it first had the most workers that it ever had."""
        most = max((workers for _, workers, _ in self.sizes), default=0)
        return next((since for since, workers, _ in self.sizes if workers == most), math.nan)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", choices=COMMANDS, default="process")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--apart", type=float, default=20.0, help="seconds between two submissions")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="concertina-final-size-") as folder:
        checkout = checkouts.find(home=Path(folder) / "state")
        options = Options(slots=SLOTS[arguments.host], host=arguments.host)
        print("Starting a stack of its own…", flush=True)
        record = background.start(checkout, options, ends_with_us=True, say=lambda _: None)
        try:
            token = secrets_file.load_or_create(checkout).tokens["vision"]
            with Client(record.url, token) as client:
                report(courses(client, arguments.host, jobs=arguments.jobs, apart=arguments.apart))
        finally:
            background.stop(checkout, say=lambda _: None)


def courses(client: Client, host: str, *, jobs: int, apart: float) -> list[Course]:
    submitted = []
    for number in range(jobs):
        submitted.append(client.submit(spec(host, number)).job["id"])
        time.sleep(apart)
    while not all(client.job(job_id)["finished_at"] for job_id in submitted):
        time.sleep(LOOK_SECONDS)
    return [course(client, job_id) for job_id in submitted]


def spec(host: str, number: int) -> dict[str, Any]:
    """Each is a training of its own, so that none begins with what another has measured."""
    return {
        "name": f"short-{number}",
        "command": COMMANDS[host],
        "env": {"RUN": str(number)},
        "elastic": {"mode": "hot", "max_workers": SLOTS[host]},
        "batch": {"global_batch_size": {"base": 64, "min": 64, "max": 512}},
    }


def course(client: Client, job_id: str) -> Course:
    job, generations = client.job(job_id), client.generations(job_id)
    began = moment(generations[0]["began_at"]) if generations else math.nan
    if not generations:
        print(f"{job['name']} never trained: {client.events(job_id)[-1]['message']}")
    return Course(
        name=f"{job['name']} ({job['state']})",
        sizes=tuple(
            (moment(one["began_at"]) - began, one["workers"], one["global_batch_size"])
            for one in generations
        ),
        seconds=moment(job["finished_at"] or "") - moment(job["submitted_at"]),
    )


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def report(found: Sequence[Course]) -> None:
    print(f"load average {os.getloadavg()[0]:.1f}\n")
    for one in found:
        went = "  ".join(f"{since:.0f}: {workers}@{batch}" for since, workers, batch in one.sizes)
        print(
            f"{one.name:<22} most after {one.most_after:4.0f} s, took {one.seconds:4.0f} s   {went}"
        )
    trained = [one for one in found if one.sizes]
    print(
        f"\n{len(trained)} of {len(found)} trained: on average most workers after"
        f" {fmean(one.most_after for one in trained):.0f} s,"
        f" {fmean(len(one.sizes) - 1 for one in trained):.1f} changes,"
        f" completion {fmean(one.seconds for one in trained):.0f} s"
    )


if __name__ == "__main__":
    main()
