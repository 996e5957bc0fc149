"""How do containers begin and end, whatever happens to them, their service and their node?"""

from __future__ import annotations

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import docker
import docker.errors
import pytest
import requests
from cluster.docker_host import host as host_module
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container import containers
from cluster.docker_host.host import DockerHost
from cluster.docker_host.lifecycle.making import Maker
from cluster.worker_host import (
    Failing,
    HostUnavailable,
    Launch,
    LaunchRefused,
    ProcessLimits,
    ProcessListing,
    ProcessPhase,
)

from tests.contract.conftest import (
    DockerBench,
    exited,
    forgotten,
    is_running,
    labels,
    observed,
    texts,
    until,
)
from tests.contract.docker_host.docker_view import (
    RUN_FOR_EVER,
    container_name,
    networks,
    run_elsewhere,
)
from tests.docker_daemon import TINY_IMAGE, DockerDaemon


def test_what_a_process_wrote_to_its_scratch_goes_with_it(docker_bench: DockerBench) -> None:
    script = "mkdir -p a/b; touch a/b/c; chmod 0 a/b a .; echo done"
    docker_bench.launch("w1", ("sh", "-c", script))
    exited(docker_bench.host, "w1")
    scratch = docker_bench.host.state_dir / "jobs" / "job1" / "scratch" / "w1"
    assert (scratch / "a").exists()
    forgotten(docker_bench.host, "w1")
    assert not scratch.exists()
    discarded = containers.discarded_folder(state_dir=docker_bench.host.state_dir)
    until(lambda: list(discarded.iterdir()) == [])


def test_a_record_that_cannot_be_read_hides_nobody_else(docker_bench: DockerBench) -> None:
    docker_bench.start("w1")
    torn = docker_bench.host.state_dir / "containers" / "torn"
    torn.mkdir()
    (torn / "process.json").write_text("{")
    assert list(docker_bench.host.list().by_id()) == ["w1"]


def test_two_installations_on_one_daemon_do_not_see_each_other(
    docker_bench: DockerBench, tmp_path: Path
) -> None:
    docker_bench.launch("w1", RUN_FOR_EVER)
    other = replace(docker_bench.host, installation="another", state_dir=tmp_path / "other")
    assert other.list().processes == ()
    other.stop("w1", grace_seconds=0.0)
    other.forget("w1")
    until(lambda: is_running(docker_bench.host, "w1"))


def test_a_container_that_somebody_removed_is_not_listed_any_more(
    docker_bench: DockerBench, docker_daemon: DockerDaemon
) -> None:
    docker_bench.launch("w1", RUN_FOR_EVER, secret_env={"MINE": "x"})
    until(lambda: texts(docker_bench, "w1") == ["up"])
    docker_daemon.client().remove_container(container_name(docker_bench, "w1"), force=True)
    until(lambda: docker_bench.host.list().processes == ())
    until(lambda: list((docker_bench.host.state_dir / "containers").iterdir()) == [])
    assert networks(docker_bench, docker_daemon) == []
    assert texts(docker_bench, "w1") == ["up"]


def test_what_a_dying_service_made_and_did_not_start_is_started_anew(
    docker_bench: DockerBench, docker_daemon: DockerDaemon
) -> None:
    docker_bench.launch("w1", RUN_FOR_EVER)
    client = docker_daemon.client()
    details = client.inspect_container(container_name(docker_bench, "w1"))
    client.create_container_from_config(
        {
            "Image": TINY_IMAGE,
            "Cmd": ["true"],
            "Labels": {**details["Config"]["Labels"], "concertina.process": "w2"},
        },
        container_name(docker_bench, "w2"),
    )
    assert observed(docker_bench.host, "w2") is None
    docker_bench.launch("w2", RUN_FOR_EVER)
    assert until(lambda: observed(docker_bench.host, "w2"))


def test_one_that_cannot_be_started_is_listed_as_exited_with_the_reason(
    docker_bench: DockerBench, docker_daemon: DockerDaemon
) -> None:
    docker_bench.launch("w1", ("true",), limits=ProcessLimits(cpus=100_000))
    process = exited(docker_bench.host, "w1")
    assert (process.exit_code, process.failing) == (None, Failing.CANNOT_START)
    assert "CPUs" in process.note
    fresh = replace(docker_bench.host)
    fresh.start(Launch(labels=labels("w1"), command=("true",), env={}, node="n1"))
    assert fresh.list().processes == (process,)
    forgotten(fresh, "w1")
    assert networks(docker_bench, docker_daemon) == []


@pytest.mark.parametrize(("call", "status"), [("start", 500), ("create_network", 400)])
def test_a_daemon_in_trouble_is_asked_again_and_what_it_says_is_told(
    docker_bench: DockerBench, monkeypatch: pytest.MonkeyPatch, call: str, status: int
) -> None:
    """While its containerd is restarted, say, or no address is left for another network."""
    answer = requests.Response()
    answer.status_code = status
    trouble = docker.errors.APIError("", answer, explanation="connection refused")
    told = "connection refused; trying again"
    real = getattr(docker.APIClient, call)
    notes = set()

    def at_last(*given: Any, **options: Any) -> Any:
        if told not in notes:
            raise trouble
        return real(*given, **options)

    monkeypatch.setattr(docker.APIClient, call, at_last)
    docker_bench.launch("w1", RUN_FOR_EVER)

    def look() -> bool:
        process = observed(docker_bench.host, "w1")
        assert process is not None
        assert process.phase is not ProcessPhase.EXITED, process.note
        notes.add(process.note)
        return process.phase is ProcessPhase.RUNNING

    until(look)
    assert told in notes


def test_a_node_that_nobody_knows_is_refused(docker_bench: DockerBench) -> None:
    launch = Launch(labels=labels("w1"), command=("true",), env={}, node="n9")
    with pytest.raises(LaunchRefused, match="n9"):
        docker_bench.host.start(launch)


def test_a_silent_node_hides_its_processes_and_nobody_elses(
    docker_bench: DockerBench, docker_daemon: DockerDaemon, tmp_path: Path
) -> None:
    """As when its cable is cut: a socket is where nobody listens any more."""
    passage = tmp_path / "passage.sock"
    passage.symlink_to(docker_daemon.url.removeprefix("unix://"))
    known = {
        "n1": DaemonEndpoint(url=docker_daemon.url),
        "n2": DaemonEndpoint(url=f"unix://{passage}"),
    }
    host = replace(docker_bench.host, endpoints=lambda: {"n2": known["n2"]})
    host.start(Launch(labels=labels("w2"), command=RUN_FOR_EVER, env={}, node="n2"))
    passage.unlink()
    both = replace(docker_bench.host, installation="elsewhere", endpoints=lambda: known)
    listing = both.list()
    assert (listing.processes, set(listing.silent_nodes)) == ((), {"n2"})
    with pytest.raises(HostUnavailable) as problem:
        both.start(Launch(labels=labels("w3"), command=RUN_FOR_EVER, env={}, node="n2"))
    assert set(problem.value.silent_nodes) == {"n2"}
    with pytest.raises(HostUnavailable):
        host.list()
    with pytest.raises(HostUnavailable) as problem:
        host.stop("w2", grace_seconds=0.0)
    assert set(problem.value.silent_nodes) == {"n2"}
    passage.symlink_to(docker_daemon.url.removeprefix("unix://"))
    assert observed(host, "w2") is not None
    assert both.list() == ProcessListing()
    assert set(listing.silent_nodes) == {"n2"}, "of that look, whoever looked since"


def test_events_come_from_the_daemon(
    docker_bench: DockerBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else makes it look, once it has when it began, when it listened, and then again."""
    monkeypatch.setattr(host_module, "_LOOK_SECONDS", 200.0)
    docker_bench.start("w1")
    looks, look = [], DockerHost.list

    def counted(host: DockerHost) -> Any:
        looks.append(look(host))
        return looks[-1]

    monkeypatch.setattr(DockerHost, "list", counted)
    events = docker_bench.host.events(poll_seconds=0.02)
    assert next(events).phase is ProcessPhase.RUNNING
    with ThreadPoolExecutor() as pool:
        ended = pool.submit(next, events)
        until(lambda: len(looks) == 3)
        docker_bench.end("w1", 4)
        assert ended.result(90).exit_code == 4
    events.close()  # type: ignore[attr-defined]


def test_the_grace_period_outlives_the_service(docker_bench: DockerBench) -> None:
    docker_bench.start("w1", is_deaf=True)
    code = """
        import os, signal, threading
        host.stop("w1", grace_seconds=0.5)
        for thread in threading.enumerate():
            if thread.name == "stop_container": thread.join()
        os.kill(os.getpid(), signal.SIGKILL)
    """
    assert run_elsewhere(docker_bench, code).wait(90) == -signal.SIGKILL
    name = container_name(docker_bench, "w1")
    (endpoint,) = docker_bench.host.endpoints().values()
    client = DockerDaemon(url=endpoint.url).client()
    assert client.wait(name, timeout=90)["StatusCode"] == 137  # nobody but the daemon looked


def test_one_that_is_stopped_between_its_making_and_its_start_never_runs(
    docker_bench: DockerBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = Maker._create  # noqa: SLF001 - an instant that nobody sees from outside

    def stopped_meanwhile(self: Maker, *given: Any) -> None:
        create(self, *given)
        docker_bench.host.stop("w1", grace_seconds=60.0)

    monkeypatch.setattr(Maker, "_create", stopped_meanwhile)
    docker_bench.launch("w1", ("sh", "-c", "echo ran; touch /control/ran"))
    assert exited(docker_bench.host, "w1", has_log=False).exit_code == -signal.SIGTERM
    assert not (docker_bench.folder / "ran").exists()


def test_the_threads_that_start_containers_do_not_ask_where_daemons_are(
    docker_bench: DockerBench,
) -> None:
    """Each would need a connection to the database."""
    asked_by = set()

    def endpoints() -> Any:
        asked_by.add(threading.current_thread())
        return docker_bench.host.endpoints()

    bench = replace(docker_bench, host=replace(docker_bench.host, endpoints=endpoints))
    bench.launch("w1", ("true",))
    exited(bench.host, "w1")
    assert asked_by == {threading.current_thread()}
