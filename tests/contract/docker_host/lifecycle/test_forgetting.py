"""What is forgotten is not listed any more, however long Docker takes to remove it."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from typing import Any

import docker
import docker.errors
import pytest
from cluster.docker_host.logs import following
from cluster.docker_host.logs.following import Followers
from cluster.logs import log_files

from tests.contract.conftest import DockerBench, exited, forgotten, texts, until
from tests.contract.docker_host.docker_view import container_name, networks
from tests.docker_daemon import DockerDaemon


def test_scratch_goes_though_the_log_is_still_being_copied(
    docker_bench: DockerBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker_bench.launch("w1", ("sh", "-c", "touch mine"))
    exited(docker_bench.host, "w1")
    scratch = docker_bench.host.state_dir / "jobs" / "job1" / "scratch" / "w1"
    assert scratch.exists()
    monkeypatch.setattr(Followers, "await_complete", lambda *_, **__: False)
    docker_bench.host.forget("w1")
    until(lambda: not scratch.exists())
    assert docker_bench.host.list().processes == ()


def test_nobody_waits_for_a_container_that_takes_its_time_to_go(
    docker_bench: DockerBench, docker_daemon: DockerDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go = threading.Event()
    remove = docker.APIClient.remove_container

    def slowly(*given: Any, **options: Any) -> None:
        assert may_go.wait(90)
        remove(*given, **options)

    monkeypatch.setattr(docker.APIClient, "remove_container", slowly)
    docker_bench.launch("w1", ("true",))
    exited(docker_bench.host, "w1")
    docker_bench.host.forget("w1")
    assert docker_bench.host.list().processes == ()
    docker_bench.host.forget("w1")
    assert docker_daemon.client().inspect_container(container_name(docker_bench, "w1"))
    may_go.set()
    forgotten(docker_bench.host, "w1")
    assert networks(docker_bench, docker_daemon) == []


def test_a_container_that_is_refused_to_go_is_not_listed_and_goes_later(
    docker_bench: DockerBench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    refusals = [docker.errors.APIError("device or resource busy")] * 3
    remove = docker.APIClient.remove_container

    def reluctantly(*given: Any, **options: Any) -> None:
        if refusals:
            raise refusals.pop()
        remove(*given, **options)

    monkeypatch.setattr(docker.APIClient, "remove_container", reluctantly)
    docker_bench.launch("w1", ("true",))
    exited(docker_bench.host, "w1")
    docker_bench.host.forget("w1")
    assert replace(docker_bench.host).list().processes == (), "nor by another service process"
    forgotten(docker_bench.host, "w1")
    assert refusals == []
    assert "busy" in caplog.text


def test_a_container_stays_until_its_log_is_copied_whatever_the_disk_says_meanwhile(
    docker_bench: DockerBench, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[Any] = []
    hear = following._hear  # noqa: SLF001 - nothing else tells how often it was tried

    def count(document: Any, heard: Any) -> None:
        hear(document, heard)
        reports.append(document)

    monkeypatch.setattr(following, "_hear", count)
    path = log_files.path_of("w1", job_id="job1", state_dir=docker_bench.host.state_dir)
    path.mkdir(parents=True)  # to be opened for writing by nobody
    docker_bench.launch("w1", ("echo", "last words"))
    exited(docker_bench.host, "w1", has_log=False)
    until(lambda: docker_bench.host.list() and len(reports) >= 3)
    docker_bench.host.forget("w1")
    until(lambda: "still being copied" in caplog.text)
    docker_bench.host.list()
    assert [line.message for line in caplog.records if "Is a directory" in line.message] == [
        "A log is copied later: IsADirectoryError(21, 'Is a directory')"
    ], "told once, however often it was tried"
    path.rmdir()
    forgotten(docker_bench.host, "w1")
    assert texts(docker_bench, "w1") == ["last words"]


def test_nobody_waits_for_a_full_disk_to_forget_a_process(
    docker_bench: DockerBench, caplog: pytest.LogCaptureFixture
) -> None:
    path = log_files.path_of("w1", job_id="job1", state_dir=docker_bench.host.state_dir)
    path.parent.mkdir(parents=True)
    path.symlink_to("/dev/full")
    docker_bench.launch("w1", ("echo", "last words"))
    exited(docker_bench.host, "w1", has_log=False)
    forgotten(docker_bench.host, "w1")
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == [
        "A log is not copied for want of room: OSError(28, 'No space left on device')"
    ], "told once"
