"""What does Docker itself know of the stack's containers?"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker import APIClient
from local_stack import stack_record

from tests.end_to_end.running_stack import RunningStack
from tools.images.catalogue import WORKER

IMAGE = "concertina-tests/scripts:1"
DOCKERFILE = f"FROM {WORKER.tag}\nCOPY . /scripts\n"


class DockerRefusedError(Exception):
    """Docker did not do what it was told; the message has its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Containers:
    """The containers of one stack."""

    stack: RunningStack

    def build_image(self, scripts: Path) -> None:
        """The worker image with the tests' scripts, as a team would make one of its own."""
        self.docker(
            "build", "--quiet", "--tag", IMAGE, "--file", "-", str(scripts), told=DOCKERFILE
        )

    def docker(self, *arguments: str, told: str = "") -> str:
        ran = subprocess.run(
            ("docker", *arguments),
            env={**os.environ, "DOCKER_HOST": self._url, "DOCKER_BUILDKIT": "0"},
            input=told,
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            raise DockerRefusedError(f"docker {' '.join(arguments)}: {ran.stderr.strip()}")
        return ran.stdout.strip()

    def of_process(self, process_id: str) -> str:
        """The id of its container; empty: it has none."""
        return next(iter(self._labelled("process", process_id)), "")

    def of_job(self, job_id: str) -> list[str]:
        return self._labelled("job", job_id)

    def inspect(self, container: str) -> dict[str, Any]:
        with self._asking() as client:
            found: dict[str, Any] = client.inspect_container(container)
        return found

    def _labelled(self, name: str, value: str) -> list[str]:
        with self._asking() as client:
            found = client.containers(all=True, filters={"label": f"concertina.{name}={value}"})
        return [container["Id"] for container in found]

    @contextmanager
    def _asking(self) -> Iterator[APIClient]:
        """Without a process of its own for each question: tests wait for answers."""
        with closing(APIClient(base_url=self._url, version="auto", timeout=60)) as client:
            yield client

    @property
    def _url(self) -> str:
        record = stack_record.current(self.stack.checkout)
        assert record is not None
        return record.docker_url

    def folder_of(self, job_id: str) -> Path:
        """What the job's containers see as /checkpoints."""
        return self.stack.checkout.state_dir / "state" / "jobs" / job_id / "checkpoints"
