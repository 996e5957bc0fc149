"""What Docker itself knows of the stack's containers, asked with its command line."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_stack import stack_record
from local_stack.images.catalogue import WORKER

from tests.end_to_end.running_stack import RunningStack

IMAGE = "concertina-tests/scripts:1"
DOCKERFILE = f"FROM {WORKER.tag}\nCOPY . /scripts\n"


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
        record = stack_record.current(self.stack.checkout)
        assert record is not None
        ran = subprocess.run(
            ("docker", *arguments),
            env={**os.environ, "DOCKER_HOST": record.docker_url, "DOCKER_BUILDKIT": "0"},
            input=told,
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout.strip()

    def of_process(self, process_id: str) -> str:
        """The id of its container; empty: it has none."""
        return self.docker("ps", "-aq", "--filter", f"label=concertina.process={process_id}")

    def of_job(self, job_id: str) -> list[str]:
        return self.docker("ps", "-aq", "--filter", f"label=concertina.job={job_id}").split()

    def inspect(self, container: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.docker("inspect", container))[0]
        return found

    def folder_of(self, job_id: str) -> Path:
        """What the job's containers see as /checkpoints."""
        return self.stack.checkout.state_dir / "state" / "jobs" / job_id / "checkpoints"
