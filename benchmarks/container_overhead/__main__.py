"""What does the platform cost, against a bare `docker run` of the same training?

    python -m benchmarks.container_overhead [--rounds 5] [--steps 200]

The comparison that the FfDL paper makes (Middleware 2019): the same training, in the same image,
with the same limits, once as a container that somebody starts by hand and once as a job of a stack
of its own, with everything that comes with it: the elastic library, a coordinator beside the
worker, heartbeats, reports twice a second, the service's ticks. The two take turns; while the bare
one runs, the whole stack is stopped (SIGSTOP), so that it costs nothing there. Each prints how long
its timed steps took. Needs Docker, as `./dev up --host docker` does.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

import docker
import psutil
from local_stack import checkout as checkouts
from local_stack import secrets_file, stack_record
from local_stack.stack import background
from local_stack.stack.stack import Options

from concertina.client import Client
from tools.images.catalogue import WORKER

SOURCE: Final = Path(__file__).with_name("training.py").read_text()
TARGET: Final = 0.02  # the most the same steps may take longer
MEMORY_BYTES: Final = 2 << 30
LEAST_STEPS: Final = 100  # timed in each run; from fewer, or from fewer rounds, no verdict is drawn
LEAST_ROUNDS: Final = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    pairs: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory(prefix="concertina-overhead-") as folder:
        checkout = checkouts.find(home=Path(folder) / "state")
        print("Starting a stack of its own…", flush=True)
        record = background.start(
            checkout, Options(slots=1, host="docker"), ends_with_us=True, say=print
        )
        try:
            token = secrets_file.load_or_create(checkout).tokens["vision"]
            with Client(record.url, token) as client:
                bare = Bare(stack_record.current(checkout))
                for number in range(options.rounds):
                    pairs += [pair(bare, client, number, options.steps)]
        finally:
            background.stop(checkout, say=lambda _: None)
    report(pairs, options.steps)


def pair(bare: Bare, client: Client, number: int, steps: int) -> tuple[float, float]:
    """Seconds of the timed steps, bare and as a job; who begins changes from round to round."""
    if number % 2:
        ours = as_job(client, number, steps)
        alone = bare.run(steps)
    else:
        alone = bare.run(steps)
        ours = as_job(client, number, steps)
    print(f"  round {number + 1}: bare {alone:.2f} s, job {ours:.2f} s", flush=True)
    return alone, ours


class Bare:
    """Containers started by hand, while the stack stands still."""

    def __init__(self, stack: stack_record.StackRecord | None) -> None:
        assert stack is not None
        self._supervisor = psutil.Process(stack.supervisor_pid)
        self._docker = docker.DockerClient(base_url=stack.docker_url)
        self._image = WORKER.tag

    def run(self, steps: int) -> float:
        with self._stack_stopped():
            printed: bytes = self._docker.containers.run(
                self._image,
                command(steps, "plain"),
                mem_limit=MEMORY_BYTES,
                memswap_limit=MEMORY_BYTES,
                environment={"OMP_NUM_THREADS": "1"},
                network_mode="none",
                init=True,
                remove=True,
            )
        return seconds_in(printed.decode().splitlines())

    @contextlib.contextmanager
    def _stack_stopped(self) -> Iterator[None]:
        """All of its processes but the Docker daemon, should it have one of its own."""
        processes = [self._supervisor, *self._supervisor.children(recursive=True)]
        stopped = [one for one in processes if not is_docker(one)]
        for process in stopped:
            process.suspend()
        try:
            yield
        finally:
            for process in reversed(stopped):
                process.resume()


def is_docker(process: psutil.Process) -> bool:
    return process.name().startswith(("dockerd", "docker-proxy", "containerd", "runc"))


def as_job(client: Client, number: int, steps: int) -> float:
    """Submit it, wait for its end, and read what it printed."""
    spec: dict[str, Any] = {
        "name": f"overhead-{number}",
        "command": list(command(steps, "elastic")),
        "resources": {"memory": f"{MEMORY_BYTES >> 20}MiB"},
        "checkpoint": {"interval": "1h"},
    }
    job = client.wait(client.submit(spec).job["id"])
    if job["state"] != "completed":
        raise SystemExit(f"The job is {job['state']}: {job['message']}")
    return seconds_in([line["text"] for line in client.logs(job["id"])])


def command(steps: int, contestant: str) -> tuple[str, ...]:
    return ("python", "-c", SOURCE, contestant, "--steps", str(steps))


def seconds_in(lines: list[str]) -> float:
    """The time that a training printed."""
    results = [json.loads(line) for line in lines if line.startswith('{"steps"')]
    return float(results[-1]["seconds"])


def report(pairs: list[tuple[float, float]], steps: int) -> None:
    ratios = sorted(ours / alone - 1 for alone, ours in pairs)
    step = [median(seconds) / steps * 1e3 for seconds in zip(*pairs, strict=True)]
    has_enough = steps >= LEAST_STEPS and len(pairs) >= LEAST_ROUNDS
    verdict = "met" if median(ratios) <= TARGET else "NOT met"
    print(
        f"A step takes {step[0]:.1f} ms bare and {step[1]:.1f} ms as a job ({len(pairs)} rounds of"
        f" {steps} steps).\nBy rounds: median {median(ratios):+.1%}, from {ratios[0]:+.1%} to"
        f" {ratios[-1]:+.1%} (target {TARGET:.0%}:"
        f" {verdict if has_enough else 'too few to tell'})."
    )


if __name__ == "__main__":
    main()
