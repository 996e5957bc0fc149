"""What becomes of processes when a real Ray cluster loses a daemon, its head, or all of itself."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.ray_host.host import RayHost
from cluster.worker_host import HostUnavailable, ProcessPhase

from tests.contract.conftest import RayBench, answers, exited, observed, texts, until
from tests.ray_cluster import NODE, RayCluster, cluster_of_its_own

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]
LONG = 90.0


@pytest.fixture
def cluster() -> Iterator[RayCluster]:
    with cluster_of_its_own() as one:
        yield one


@pytest.fixture
def bench(cluster: RayCluster, tmp_path: Path) -> RayBench:
    control = tmp_path / "control"
    control.mkdir()
    made = RayBench(host=new_host(cluster, tmp_path / "state"), folder=control)
    made.start("w1")
    return made


def new_host(cluster: RayCluster, state_dir: Path) -> RayHost:
    host = RayHost(
        state_dir=state_dir,
        link=cluster.link(),
        nodes=lambda: {NODE: 2},
        answer_seconds=LONG,
    )
    until(lambda: answers(host), seconds=180.0)
    return host


def reason(host: RayHost) -> str:
    """Why the node is silent; "": it answers."""
    try:
        return host.list().silent_nodes.get(NODE, "")
    except HostUnavailable as problem:
        return str(problem)


def goes_on(bench: RayBench) -> None:
    """It is the process that it was, which can be talked to, and ended."""
    bench.say("w1", "still here")
    until(lambda: texts(bench, "w1")[-1:] == ["still here"])
    assert texts(bench, "w1") == ["up", "still here"]
    bench.end("w1", 3)
    assert exited(bench.host, "w1").exit_code == 3
    bench.host.forget("w1")
    assert bench.host.list().processes == ()
    bench.host.close()


def test_processes_are_found_by_the_next_daemon_of_their_node(
    cluster: RayCluster, bench: RayBench
) -> None:
    """Concertina's own daemon dies as well here: it is the same."""
    before = observed(bench.host, "w1")
    (raylet,) = cluster.processes("raylet/raylet ")
    assert raylet.signal(signal.SIGKILL)
    assert raylet.await_end(seconds=LONG)
    until(lambda: reason(bench.host), seconds=180.0)
    cluster.add_node()
    until(lambda: answers(bench.host), seconds=180.0)
    assert observed(bench.host, "w1") == before
    goes_on(bench)


def test_processes_are_found_by_a_new_cluster_on_their_machines(
    cluster: RayCluster, bench: RayBench
) -> None:
    before = observed(bench.host, "w1")
    cluster.burn_down()
    until(lambda: reason(bench.host), seconds=180.0)
    bench.host.close()
    cluster.run()
    bench.host = new_host(cluster, bench.host.state_dir)
    assert observed(bench.host, "w1") == before
    goes_on(bench)


def test_while_the_head_is_away_processes_are_seen_and_started(
    cluster: RayCluster, bench: RayBench
) -> None:
    (head,) = cluster.processes("gcs/gcs_server ")
    assert head.signal(signal.SIGSTOP)  # it says nothing, as one that is far away
    bench.start_command("w2", ("sh", "-c", "sleep 1000"))
    assert {one.phase for one in bench.host.list().processes} == {ProcessPhase.RUNNING}
    assert set(bench.host.list().by_id()) == {"w1", "w2"}
    bench.host.stop("w2", grace_seconds=LONG)
    assert exited(bench.host, "w2").exit_code == -signal.SIGTERM
    assert head.signal(signal.SIGCONT)
    bench.host.forget("w2")
    goes_on(bench)
