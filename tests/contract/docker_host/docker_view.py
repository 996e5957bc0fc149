"""What do the tests of the Docker host start, and what do they see of it past the host?"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import Any, Final

from cluster.docker_host.container import containers

from tests.contract.conftest import DockerBench
from tests.docker_daemon import TINY_IMAGE, DockerDaemon

RUN_FOR_EVER: Final = ("sh", "-c", "echo up; exec sleep 1000")


def container_name(bench: DockerBench, process_id: str) -> str:
    return containers.name_of(process_id, installation=bench.host.installation)


def networks(bench: DockerBench, daemon: DockerDaemon) -> list[str]:
    label = f"concertina.installation={bench.host.installation}"
    return [network["Name"] for network in daemon.client().networks(filters={"label": label})]


def run_elsewhere(bench: DockerBench, code: str, **options: Any) -> subprocess.Popen[bytes]:
    """In another service process, with the same host as `host`."""
    (endpoint,) = bench.host.endpoints().values()
    prologue = f"""
        from pathlib import Path
        from cluster.docker_host.connection.endpoint import DaemonEndpoint
        from cluster.docker_host.host import DockerHost
        endpoint = DaemonEndpoint(url={endpoint.url!r})
        host = DockerHost(
            state_dir=Path({str(bench.host.state_dir)!r}),
            installation={bench.host.installation!r},
            endpoints=lambda: {{"n1": endpoint}},
            worker_image={TINY_IMAGE!r},
            user="10001:10001",
            coordinator_network={bench.host.coordinator_network!r},
            answer_seconds={bench.host.answer_seconds!r},
        )
    """
    env = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    source = textwrap.dedent(prologue) + textwrap.dedent(code)
    return subprocess.Popen((sys.executable, "-c", source), env=env, **options)
