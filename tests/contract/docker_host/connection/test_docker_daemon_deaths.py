"""What survives the death of a Docker daemon? Containers, their logs, and how long they may run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from cluster.worker_host import HostUnavailable, ProcessPhase

from tests.contract.conftest import DockerBench, bench_on, exited, observed, texts, until
from tests.contract.docker_host.docker_view import container_name
from tests.docker_daemon import DockerDaemon, import_tiny_image, private_daemon


@pytest.fixture(scope="module")
def mortal_daemon() -> Iterator[DockerDaemon]:
    """One that may be killed, since nobody else uses it."""
    daemon = private_daemon()
    try:
        import_tiny_image(daemon.client())
        yield daemon
    finally:
        daemon.end()


@pytest.fixture
def mortal_bench(mortal_daemon: DockerDaemon, tmp_path: Path) -> Iterator[DockerBench]:
    with bench_on(mortal_daemon, tmp_path) as bench:
        yield bench


def test_containers_and_every_line_that_docker_kept_survive_a_killed_daemon(
    mortal_bench: DockerBench, mortal_daemon: DockerDaemon
) -> None:
    """What a daemon has heard and not written when it is killed is lost to everybody."""
    count = "i=0; until [ -e /control/enough ]; do echo $i; i=$((i+1)); usleep 200; done; echo $i"
    mortal_bench.launch("w1", ("sh", "-c", count))
    lines = mortal_bench.host.state_dir / "logs" / "job1" / "w1.log"
    until(lambda: lines.exists() and lines.stat().st_size > 10_000)
    before = observed(mortal_bench.host, "w1")
    mortal_daemon.kill()
    with pytest.raises(HostUnavailable) as problem:
        mortal_bench.host.list()
    assert set(problem.value.silent_nodes) == {"n1"}
    mortal_daemon.run()
    assert observed(mortal_bench.host, "w1") == before
    known = lines.stat().st_size
    until(lambda: lines.stat().st_size > known + 10_000)
    (mortal_bench.folder / "enough").touch()
    assert exited(mortal_bench.host, "w1").exit_code == 0
    kept = mortal_daemon.client().logs(container_name(mortal_bench, "w1")).decode().split()
    assert texts(mortal_bench, "w1") == kept
    gaps = [(a, b) for a, b in pairwise(map(int, kept)) if b != a + 1]
    assert kept[0] == "0"
    assert len(gaps) <= 1


def test_who_should_have_ended_while_the_daemon_was_dead_is_ended_when_it_is_back(
    mortal_bench: DockerBench, mortal_daemon: DockerDaemon
) -> None:
    mortal_bench.start("w1", is_deaf=True)
    mortal_bench.host.stop("w1", grace_seconds=1.0)
    mortal_daemon.kill()
    mortal_daemon.run()
    assert exited(replace(mortal_bench.host), "w1").exit_code == -9


def test_what_ended_while_the_daemon_was_dead_tells_how(
    mortal_bench: DockerBench, mortal_daemon: DockerDaemon
) -> None:
    mortal_bench.start("w1")
    mortal_daemon.kill()
    mortal_bench.end("w1", 7)
    mortal_daemon.run()
    process = exited(mortal_bench.host, "w1")
    assert (process.phase, process.exit_code) == (ProcessPhase.EXITED, 7)
