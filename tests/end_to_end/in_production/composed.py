"""The service as `docker-compose.yml` runs it, with images that were made on this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from docker import APIClient
from local_stack.checkout import ROOT

from tests import image_shelf
from tests.docker_daemon import DockerDaemon
from tests.end_to_end.in_production.web_server import Site
from tests.ports import free_port
from tools.images import image
from tools.images.catalogue import POSTGRES, REDIS, SERVICE, WORKER
from tools.images.contents import system

SECRET: Final = "a-password-of-these-tests"
_COMPOSE: Final = ("docker-compose",)
SERVICES: Final = ("api", "beat", "control", "io")


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """One run of it. Whatever is installed of Docker's compose is what it must work with."""

    project: str
    folder: Path
    docker_url: str
    port: int
    site: Site  # where people reach it, once a web server is there

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def network(self) -> str:
        return f"{self.project}-coordinators"

    def compose(self, *arguments: str) -> str:
        return self._run(*_COMPOSE, *self._which(), *arguments)

    def _which(self) -> tuple[str, ...]:
        files = ("--file", str(ROOT / "docker-compose.yml"), "--env-file", str(self.folder / "env"))
        return ("--project-name", self.project, *files)

    def as_told(self, section: str, *, service: str) -> None:
        """Do what a section of docs/production/backup.md says to do in this service's container."""
        page = (ROOT / "docs" / "production" / "backup.md").read_text()
        _, _, found = page.partition(f"\n## {section}\n")
        lines = [line[2:] for line in found.partition("\n## ")[0].splitlines() if line[:2] == "$ "]
        ours = [line for line in lines if f"docker compose exec -T {service} " in line]
        assert ours, f"{section} says nothing of {service}"
        for line in ours:
            command = " ".join((*_COMPOSE, *self._which()))
            script = f"cd {self.folder}; {line.replace('docker compose', command)}"
            self._run("bash", "-euo", "pipefail", "-c", script)

    def docker(self, *arguments: str) -> str:
        return self._run("docker", *arguments)

    def in_container(self, service: str, *command: str) -> str:
        """What a command says in the container of this service."""
        return self.docker("exec", self.container(service)["Id"], *command)

    def bootstrap(self) -> dict[str, str]:
        """Make a pool and a team; returns the team's token by its name."""
        words = ("--slots", "2", "--team", "vision=2", "--admin-password", SECRET)
        told = self.in_container(
            "api", "python", "manage.py", "bootstrap", "--pool", "default", *words
        )
        tokens: dict[str, str] = json.loads(told)["tokens"]
        return tokens

    def client(self, token: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def container(self, service: str) -> dict[str, Any]:
        """Asked of Docker itself: compose takes half a second of a processor to say which it is."""
        labels = {"project": self.project, "service": service, "oneoff": "False"}
        wanted = [f"com.docker.compose.{name}={value}" for name, value in labels.items()]
        with closing(APIClient(base_url=self.docker_url, version="auto")) as client:
            (found,) = client.containers(all=True, filters={"label": wanted})
            inspected: dict[str, Any] = client.inspect_container(found["Id"])
        return inspected

    def is_well(self, service: str) -> bool:
        return bool(self.container(service)["State"]["Health"]["Status"] == "healthy")

    def answers(self) -> bool:
        """True if the api says that all it needs is well: sooner than its container's health."""
        try:
            answer = httpx.get(f"{self.url}/api/v1/health", timeout=20)
        except httpx.TransportError:
            return False
        return answer.is_success and bool(answer.json()["status"] == "ok")

    def end_jobs(self) -> None:
        """Remove their containers, and whatever could make more of them."""
        self.compose("stop", "--timeout", "5", "control")
        label = f"label=concertina.installation={self.project}"
        left = self.docker("ps", "--all", "--quiet", "--filter", label).split()
        if left:
            self.docker("rm", "--force", *left)

    def addresses(self, service: str) -> list[str]:
        """Its name, and where it is in each of its networks."""
        networks = self.container(service)["NetworkSettings"]["Networks"].values()
        return [service, *(network["IPAddress"] for network in networks)]

    def checkpoints(self, job_id: str) -> Path:
        return self.data / "jobs" / job_id / "checkpoints"

    def up(self) -> None:
        try:
            self.compose("up", "--detach", "--no-build")
        except AssertionError as problem:
            problem.add_note(self.last_words())
            raise

    def last_words(self) -> str:
        return self.compose("logs", "--no-color", "--tail=50")

    def kill(self, service: str) -> None:
        """Without a word to Docker, as an accident would: its container has to come back."""
        os.kill(self.container(service)["State"]["Pid"], signal.SIGKILL)

    def _run(self, *command: str) -> str:
        ran = subprocess.run(
            command,
            env={**os.environ, "DOCKER_HOST": self.docker_url},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()


@contextmanager
def running(daemon: DockerDaemon, site: Site) -> Iterator[Composed]:
    """Bring everything up; at the end nothing of it is left."""
    for needed in (WORKER, SERVICE, POSTGRES, REDIS):
        image.ensure(needed, daemon.url)
    if daemon.folder is not None:
        image_shelf.put(daemon.folder / "data")
    folder = Path(tempfile.mkdtemp(prefix="concertina-compose-"))
    composed = Composed(
        project=folder.name.rpartition("-")[2].lower(),
        folder=folder,
        docker_url=daemon.url,
        port=free_port(),
        site=site,
    )
    _prepare(composed)
    try:
        composed.up()
        yield composed
    finally:
        composed.end_jobs()  # else their coordinators keep a network from being removed
        composed.compose("down", "--volumes", "--timeout", "5")
        shutil.rmtree(folder)


def _prepare(composed: Composed) -> None:
    """What docs/production/install.md tells a person to do."""
    secrets = composed.folder / "secrets"
    secrets.mkdir()
    for folder in (composed.data, *(composed.data / name for name in ("logs", "jobs", "code"))):
        folder.mkdir()
        os.chown(folder, system.USER, system.USER)
    for name, value in _secrets().items():
        (secrets / name).write_text(value)
    socket = Path(composed.docker_url.removeprefix("unix://"))
    variables = {
        "CONCERTINA_HOST_ID": composed.project,
        "CONCERTINA_SECRETS": secrets,
        "CONCERTINA_DATA": composed.data,
        "CONCERTINA_API_PORT": f"127.0.0.1:{composed.port}:8000",
        "CONCERTINA_API_WORKERS": 1,
        "CONCERTINA_SERVICE_URL": composed.site.url,
        "CONCERTINA_TICK_SECONDS": 1,
        "CONCERTINA_COORDINATOR_NETWORK": composed.network,
        "DOCKER_GID": socket.stat().st_gid,
        "DOCKER_SOCKET": socket,
        "POSTGRES_IMAGE": POSTGRES.tag,
        "REDIS_IMAGE": REDIS.tag,
    }
    lines = [f"{name}={value}\n" for name, value in variables.items()]
    (composed.folder / "env").write_text("".join(lines))


def _secrets() -> dict[str, str]:
    return {
        "postgres_password": SECRET,
        "database_url": f"postgresql://concertina:{SECRET}@postgres/concertina",
        **{
            f"database_url_{name}": f"postgresql://concertina_{name}:{name}{SECRET}"
            "@postgres/concertina"
            for name in ("owner", "api", "control", "io")
        },
        "secret_key": SECRET * 3,
        "secret_key_fallbacks": SECRET * 2,
    }
