"""What becomes of processes when parts of a real Ray cluster die, and what is refused there."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from cluster.ray_host.host import RayHost
from cluster.ray_host.inspection import InspectionLine, inspect
from cluster.ray_host.link_process import Link
from cluster.worker_host import HostUnavailable, Launch, LaunchRefused, ProcessPhase

from tests.contract.conftest import RayBench, answers, exited, labels, texts, until
from tests.ray_cluster import NODE, RayCluster

pytestmark = pytest.mark.thorough  # with a real cluster
LONG = 90.0


@pytest.fixture
def own_bench(ray_cluster: RayCluster, ray_bench: RayBench, tmp_path: Path) -> RayBench:
    """With a link of its own, for tests that strike it; the agent is there already."""
    host = RayHost(
        state_dir=tmp_path / "ray_state",
        link=ray_cluster.link(),
        nodes=lambda: {NODE: 2},
        answer_seconds=LONG,
    )
    until(lambda: answers(host), seconds=180.0)
    return RayBench(host=host, folder=ray_bench.folder)


def test_processes_do_not_notice_that_the_link_is_killed_or_its_parent_ends(
    own_bench: RayBench,
) -> None:
    own_bench.start("w1")
    before = own_bench.host.list()
    own_bench.host.link.close()
    until(lambda: answers(own_bench.host), seconds=180.0)
    assert own_bench.host.list() == before
    own_bench.start_command("w1", ("sh",))
    assert own_bench.host.list() == before
    conversation = own_bench.host.link._conversation  # noqa: SLF001 - whose input ends with us
    assert conversation is not None
    conversation._stdin.close()  # noqa: SLF001 - as above
    conversation.await_end()
    assert conversation._process.wait(LONG) == 0  # noqa: SLF001 - as above


def test_processes_do_not_notice_that_their_agent_is_killed(
    ray_cluster: RayCluster, ray_bench: RayBench
) -> None:
    ray_bench.start("w1")
    before = ray_bench.host.list()
    (agent,) = ray_cluster.processes("ray::Agent")
    assert agent.signal(signal.SIGKILL)
    assert agent.await_end(seconds=LONG)
    until(lambda: answers(ray_bench.host), seconds=180.0)
    assert ray_bench.host.list() == before
    ray_bench.say("w1", "still here")
    until(lambda: "still here" in texts(ray_bench, "w1"))
    ray_bench.end("w1", 3)
    assert exited(ray_bench.host, "w1").exit_code == 3


def test_what_a_process_inherits_is_not_what_ray_gives_its_own(ray_bench: RayBench) -> None:
    command = ("sh", "-c", "nice; cat /proc/self/oom_score_adj; env; echo end")
    ray_bench.start_command("w1", command)
    until(lambda: "end" in texts(ray_bench, "w1"))
    told = texts(ray_bench, "w1")
    assert told[:2] == [str(os.nice(0)), "500"]
    assert not [line for line in told if line.startswith("RAY_")]


def test_a_node_that_ray_does_not_have_is_silent_and_the_others_answer(
    ray_bench: RayBench, tmp_path: Path, ray_link: Link
) -> None:
    ray_bench.start("w1")
    host = RayHost(
        state_dir=tmp_path / "two",
        link=ray_link,
        nodes=lambda: {NODE: 2, "n2": 1},
        answer_seconds=LONG,
    )
    listing = host.list()
    assert "--labels=concertina.io/node=n2" in listing.silent_nodes["n2"]
    assert [one.phase for one in listing.processes] == [ProcessPhase.RUNNING]
    there = Launch(labels=labels("w2"), command=("sh",), env={}, node="n2")
    with pytest.raises(HostUnavailable) as caught:
        host.start(there)
    assert set(caught.value.silent_nodes) == {"n2"}


def test_a_node_on_which_jobs_cannot_run_is_silent_with_what_to_do(
    ray_cluster: RayCluster, tmp_path: Path
) -> None:
    link = ray_cluster.link(worker_python=Path("/no/such/python"))
    host = RayHost(state_dir=tmp_path, link=link, nodes=lambda: {NODE: 2}, answer_seconds=LONG)

    def is_told() -> bool:
        with pytest.raises(HostUnavailable) as caught:
            host.list()
        return "CONCERTINA_RAY_WORKER_PYTHON='/no/such/python' cannot" in str(caught.value)

    until(is_told, seconds=180.0)
    link.close()


def inspected(cluster: RayCluster) -> list[InspectionLine]:
    link = cluster.link(only_looks=True)
    lines = list(inspect(link, cluster.address))
    link.close()
    return lines


def test_an_inspection_finds_the_cluster_and_leaves_it_as_it_is(ray_cluster: RayCluster) -> None:
    leases = ray_cluster.leases()
    lines = inspected(ray_cluster)
    assert (lines[0].level, f"1 nodes with 0 GPUs: {NODE}" in lines[0].text) == ("ok", True)
    assert not [line for line in lines if line.level == "fail"]
    assert ray_cluster.leases() == leases


def test_an_inspection_hears_an_agent_and_makes_none(
    ray_cluster: RayCluster, ray_bench: RayBench
) -> None:
    assert answers(ray_bench.host)
    assert not [line for line in inspected(ray_cluster) if "agent" in line.text]
    ray_cluster.end_agents()
    until(lambda: not ray_cluster.processes("ray::Agent"))
    leases = ray_cluster.leases()
    assert [line.level for line in inspected(ray_cluster)][:1] == ["ok"]
    assert ray_cluster.processes("ray::Agent") == []
    assert ray_cluster.leases() == leases


def test_no_image_is_refused_with_what_to_do_instead(ray_bench: RayBench) -> None:
    with pytest.raises(LaunchRefused, match="as a pool"):
        ray_bench.launch("w1", ("sh",), image="pytorch/pytorch:2")
    assert ray_bench.host.list().processes == ()


def test_nobody_at_the_address_is_told_before_ray_is_loaded(ray_cluster: RayCluster) -> None:
    link = ray_cluster.link(address="127.0.0.1:1")
    with pytest.raises(HostUnavailable, match=r"nobody answers at 127.0.0.1:1 .*correct the addr"):
        link.ask({}, seconds=LONG)
    link.close()


def test_a_python_without_ray_is_told_what_to_install(
    ray_cluster: RayCluster, tmp_path: Path
) -> None:
    link = ray_cluster.link()
    (tmp_path / "ray.py").write_text("raise ImportError(name='ray')")
    path = os.pathsep.join((str(tmp_path), link.env["PYTHONPATH"]))
    link.env = {**link.env, "PYTHONPATH": path}
    with pytest.raises(HostUnavailable, match=r"Install concertina\[ray\] there"):
        link.ask({}, seconds=LONG)
    link.close()
