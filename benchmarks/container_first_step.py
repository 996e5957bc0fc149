"""How long from submit to the first training step, in containers? With what is there beforehand.

Run `python benchmarks/container_first_step.py`; it needs root, `dockerd` and `docker-registry`.
Starts a stack of its own with a Docker daemon of its own, and a registry beside it, and submits the
same small job again and again over REST, in rounds of three:

- no image: the daemon has none; it is fetched from the registry on the same machine,
- cold files: the image is there, and the kernel has forgotten its files (`--drop-page-cache`),
- warm files: the kernel has them, too.

Prints the median of each, and how many times the last one that is.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from local_stack import checkout as checkouts
from local_stack import secrets_file
from local_stack.containers import endpoint
from local_stack.containers.images import GIVEN
from local_stack.processes.tether import tethered
from local_stack.stack import background
from local_stack.stack.stack import Options

from concertina.client import Client
from tools.images.catalogue import demo_image

NO_IMAGE: Final = "no image"
COLD_FILES: Final = "cold files"
WARM_FILES: Final = "warm files"
DROP_CACHES: Final = Path("/proc/sys/vm/drop_caches")
SPEC: Final = {
    "command": ["python", "/examples/digits_cnn.py", "--epochs", "50"],
    "elastic": {"mode": "hot", "registration_timeout": "10m"},  # however busy the machine is
}
PATIENCE_SECONDS: Final = 600.0
REGISTRY: Final = """
version: 0.1
storage: {filesystem: {rootdirectory: %s}}
http: {addr: %s}
log: {level: warn}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A stack with its daemon, as a team."""

    team: Client
    docker_url: str
    image: str

    def docker(self, *words: str) -> str:
        return endpoint.docker(self.docker_url, *words)

    def prepare(self, phase: str) -> None:
        """Nothing runs, and only what the phase says is there."""
        until(lambda: not self.docker("ps", "--all", "--quiet"))
        if phase == NO_IMAGE:
            self.docker("image", "prune", "--all", "--force")
        if phase == COLD_FILES:
            os.sync()
            DROP_CACHES.write_text("3")

    def measure(self, name: str) -> float:
        """Seconds from submit to the first step of one job, which is cancelled then."""
        began = time.monotonic()
        job = self.team.submit({"name": name, **SPEC}).job["id"]
        until(lambda: self.team.job(job)["step"] > 0)
        seconds = time.monotonic() - began
        self.team.cancel(job)
        until(lambda: self.team.job(job)["finished_at"] is not None)
        return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--drop-page-cache",
        action="store_true",
        help="also measure cold files; slows all else down",
    )
    arguments = parser.parse_args()
    phases = (NO_IMAGE, *((COLD_FILES,) if arguments.drop_page_cache else ()), WARM_FILES)
    seconds: dict[str, list[float]] = {phase: [] for phase in phases}
    with tempfile.TemporaryDirectory(prefix="cfs-", dir="/tmp") as folder, running(folder) as bench:
        megabytes = int(bench.docker("inspect", "--format", "{{.Size}}", bench.image)) // 10**6
        for number in range(arguments.rounds):
            for phase, known in seconds.items():
                bench.prepare(phase)
                known.append(bench.measure(f"{phase.replace(' ', '-')}-{number}"))
                print(f"  {phase}: {known[-1]:.2f} s", flush=True)
    report(seconds, megabytes)


@contextmanager
def running(folder: str) -> Iterator[Bench]:
    """A registry, a stack that runs an image of it, and that image in both."""
    with registry(Path(folder)) as address:
        image = f"{address}/concertina-demo:first-step"
        os.environ |= {GIVEN: image, endpoint.OWN: "1"}
        checkout = checkouts.find(home=Path(folder) / "state")
        print("Starting a stack of its own…", flush=True)
        options = Options(slots=2, host="docker")
        record = background.start(checkout, options, ends_with_us=True, say=lambda _: None)
        try:
            print("Making the image and filling the registry…", flush=True)
            endpoint.docker(record.docker_url, "tag", demo_image(record.docker_url), image)
            endpoint.docker(record.docker_url, "push", "--quiet", image)
            token = secrets_file.load_or_create(checkout).tokens["vision"]
            with Client(record.url, token) as team:
                yield Bench(team=team, docker_url=record.docker_url, image=image)
        finally:
            background.stop(checkout, say=lambda _: None)


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    """A registry of this machine; where it listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    settings = folder / "registry.yml"
    settings.write_text(REGISTRY % (folder / "registry", address))
    with (folder / "registry.log").open("wb") as log:
        command = tethered(("docker-registry", "serve", str(settings)), death_signal=signal.SIGTERM)
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield address
    finally:
        process.terminate()
        process.wait()


def until(condition: Callable[[], Any]) -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > give_up_at:
            raise TimeoutError("What was waited for did not come.")
        time.sleep(0.02)


def report(seconds: Mapping[str, list[float]], megabytes: int) -> None:
    rounds = len(seconds[NO_IMAGE])
    print(f"\n{rounds} rounds, load average {os.getloadavg()[0]:.1f}, image of {megabytes} MB\n")
    print(f"{'submit to first step':<22}{'median':>9}{'least':>9}{'most':>9}{'times':>8}")
    least = median(seconds[WARM_FILES])
    for phase, known in seconds.items():
        times = f"{median(known) / least:.1f}"
        spread = f"{median(known):>8.2f}s{min(known):>8.2f}s{max(known):>8.2f}s"
        print(f"{phase:<22}{spread}{times:>8}")


if __name__ == "__main__":
    main()
