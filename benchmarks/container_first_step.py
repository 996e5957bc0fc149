"""How long from submit to the first training step, in containers? With what is there beforehand.

Run `python benchmarks/container_first_step.py`; it needs root, `dockerd` and `docker-registry`.
Starts a stack of its own with a Docker daemon of its own, and a registry beside it, and submits the
same small job again and again over REST, in rounds of three:

- cold cache: the daemon has no image; it is fetched from the registry on the same machine,
- warm image: the image is there,
- warm pool: besides, a container waits that has imported all, and the job's worker takes it over.

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

import httpx
from local_stack import checkout as checkouts
from local_stack import secrets_file
from local_stack.checkout import Checkout
from local_stack.containers import endpoint
from local_stack.containers.images import GIVEN
from local_stack.processes.tether import tethered
from local_stack.stack import background
from local_stack.stack.stack import Options

from concertina.client import Client
from tools.images.catalogue import demo_image

COLD: Final = "cold cache"
IMAGE: Final = "warm image"
POOL: Final = "warm pool"
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
    """A stack with its daemon, as a team and as an admin."""

    team: Client
    admin: httpx.Client
    docker_url: str
    image: str

    def docker(self, *words: str) -> str:
        return endpoint.docker(self.docker_url, *words)

    def prepare(self, phase: str) -> None:
        """Nothing runs, and only what the phase says is there."""
        self._have_warm(0)
        until(lambda: not self.docker("ps", "--all", "--quiet"))
        if phase == COLD:
            self.docker("image", "prune", "--all", "--force")
        if phase == POOL:
            self._have_warm(1)
            until(lambda: self._warm() == "1 of 1 warm")

    def measure(self, phase: str, name: str) -> float:
        """Seconds from submit to the first step of one job, which is cancelled then."""
        began = time.monotonic()
        job = self.team.submit({"name": name, **SPEC}).job["id"]
        until(lambda: self.team.job(job)["step"] > 0)
        seconds = time.monotonic() - began
        self._check(job, has_waited=phase == POOL)
        self.team.cancel(job)
        until(lambda: self.team.job(job)["finished_at"] is not None)
        return seconds

    def _check(self, job: str, *, has_waited: bool) -> None:
        """The job's worker is in a container that waited, or in one of its own."""
        told = self.docker("ps", "--format", '{{.Names}} {{.Label "concertina.warm"}}')
        waited = [line.split()[0] for line in told.splitlines() if len(line.split()) > 1]
        if any(job in name for name in waited) != has_waited:
            raise RuntimeError(f"The worker of {job} is not in the container that it should be.")

    def _have_warm(self, size: int) -> None:
        for warm_pool in self.admin.get("warm-pools").json()["items"]:
            self.admin.delete(f"warm-pools/{warm_pool['id']}").raise_for_status()
        if size:
            body = {"pool": "default", "size": size}
            self.admin.post("warm-pools", json=body).raise_for_status()

    def _warm(self) -> str | None:
        (pool,) = self.admin.get("pools").json()["items"]
        warm: str | None = pool["nodes"][0]["warm"]
        return warm


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    seconds: dict[str, list[float]] = {COLD: [], IMAGE: [], POOL: []}
    with tempfile.TemporaryDirectory(prefix="cfs-", dir="/tmp") as folder, running(folder) as bench:
        megabytes = int(bench.docker("inspect", "--format", "{{.Size}}", bench.image)) // 10**6
        for number in range(rounds):
            for phase, known in seconds.items():
                bench.prepare(phase)
                known.append(bench.measure(phase, f"{phase.replace(' ', '-')}-{number}"))
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
            with Client(record.url, token) as team, logged_in(checkout, record.url) as admin:
                yield Bench(team=team, admin=admin, docker_url=record.docker_url, image=image)
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


@contextmanager
def logged_in(checkout: Checkout, url: str) -> Iterator[httpx.Client]:
    """REST as the stack's admin."""
    secrets = secrets_file.load_or_create(checkout)
    who = {"username": secrets.admin_username, "password": secrets.admin_password}
    with httpx.Client(base_url=f"{url}/api/v1/", headers={"Referer": url}) as client:
        client.post("session", json=who).raise_for_status()
        client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
        yield client


def until(condition: Callable[[], Any]) -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > give_up_at:
            raise TimeoutError("What was waited for did not come.")
        time.sleep(0.02)


def report(seconds: Mapping[str, list[float]], megabytes: int) -> None:
    rounds = len(seconds[COLD])
    print(f"\n{rounds} rounds, load average {os.getloadavg()[0]:.1f}, image of {megabytes} MB\n")
    print(f"{'submit to first step':<22}{'median':>9}{'least':>9}{'most':>9}{'times':>8}")
    least = median(seconds[POOL])
    for phase, known in seconds.items():
        times = f"{median(known) / least:.1f}"
        spread = f"{median(known):>8.2f}s{min(known):>8.2f}s{max(known):>8.2f}s"
        print(f"{phase:<22}{spread}{times:>8}")


if __name__ == "__main__":
    main()
