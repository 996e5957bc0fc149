"""How does an image come to a node, and what do people hear when it does not?"""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import requests
from cluster.docker_host.container.images import ImagePullProgress
from cluster.docker_host.lifecycle.retry_budget import RetryBudget
from cluster.worker_host import Failing, ObservedProcess, ProcessPhase, RegistryLogin

from tests.contract.conftest import DockerBench, exited, forgotten, observed, texts, until
from tests.docker_daemon import TINY_IMAGE, DockerDaemon
from tests.ports import free_port

PASSWORD = "right"
HASH = "$2b$04$fG2.t98Ncb/5u4LxYmZKPuyYbY6u.pauCObKlmRoZTN/tuucn565m"  # of it, by bcrypt
CONFIGURATION = """
version: 0.1
log: {{level: error}}
storage: {{filesystem: {{rootdirectory: {folder}/images}}}}
http: {{addr: "127.0.0.1:{port}"}}
auth: {{htpasswd: {{realm: tests, path: {folder}/passwords}}}}
"""


@dataclass(frozen=True)
class Registry:
    """A private registry with one image that is nowhere else."""

    name: str

    @property
    def image(self) -> str:
        return f"{self.name}/vision/train:1"

    def login(self, password: str = PASSWORD) -> RegistryLogin:
        return RegistryLogin(registry=self.name, username="team", password=password)


@pytest.fixture(scope="module")
def registry(
    docker_daemon: DockerDaemon, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Registry]:
    if shutil.which("docker-registry") is None:
        pytest.skip("needs docker-registry")
    folder, port = tmp_path_factory.mktemp("registry"), free_port()
    (folder / "passwords").write_text(f"team:{HASH}\n")
    (folder / "config.yml").write_text(CONFIGURATION.format(folder=folder, port=port))
    server = subprocess.Popen(
        ("docker-registry", "serve", str(folder / "config.yml")),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    found = Registry(name=f"127.0.0.1:{port}")
    try:
        until(lambda: _answers(found))
        _push(docker_daemon, found)
        yield found
    finally:
        server.terminate()
        server.wait()


def _answers(registry: Registry) -> bool:
    try:
        return requests.get(f"http://{registry.name}/v2/", timeout=30).status_code == 401
    except requests.ConnectionError:
        return False


def _push(daemon: DockerDaemon, registry: Registry) -> None:
    client = daemon.client()
    repository, _, tag = registry.image.rpartition(":")
    client.tag(TINY_IMAGE, repository, tag)
    login = {"username": "team", "password": PASSWORD}
    said = client.push(repository, tag=tag, auth_config=login)
    assert "error" not in said, said
    client.remove_image(registry.image)


def launch(bench: DockerBench, image: str, *logins: RegistryLogin) -> None:
    bench.launch("w1", ("echo", "here"), image=image, registry_logins=logins)


def failed(bench: DockerBench) -> ObservedProcess:
    process = exited(bench.host, "w1")
    assert process.exit_code is None
    return process


def test_an_image_is_fetched_with_the_teams_login(
    docker_bench: DockerBench, docker_daemon: DockerDaemon, registry: Registry
) -> None:
    other = RegistryLogin(registry="registry.example", username="x", password="y")
    launch(docker_bench, registry.image, other, registry.login())
    assert exited(docker_bench.host, "w1").exit_code == 0
    assert texts(docker_bench, "w1") == ["here"]
    forgotten(docker_bench.host, "w1")
    docker_daemon.client().remove_image(registry.image)


def test_a_team_without_a_login_does_not_use_that_of_who_runs_the_service(
    docker_bench: DockerBench,
    registry: Registry,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    login = base64.b64encode(f"team:{PASSWORD}".encode()).decode()
    operators = {"auths": {registry.name: {"auth": login}}}
    (tmp_path / "config.json").write_text(json.dumps(operators))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    launch(docker_bench, registry.image)
    assert failed(docker_bench).failing is Failing.IMAGE_UNAVAILABLE


@pytest.mark.parametrize(
    ("path", "password", "said"),
    [
        ("vision/train:1", None, "no basic auth credentials"),
        ("vision/train:1", "wrong", "unauthorized"),
        ("vision/train:2", PASSWORD, "manifest"),
        ("vision/nothing:1", PASSWORD, "not found"),
    ],
)
def test_what_a_registry_refuses_is_told_in_its_words(
    docker_bench: DockerBench, registry: Registry, path: str, password: str | None, said: str
) -> None:
    logins = [registry.login(password)] if password else []
    launch(docker_bench, f"{registry.name}/{path}", *logins)
    process = failed(docker_bench)
    assert process.failing is Failing.IMAGE_UNAVAILABLE
    assert said in process.note
    assert path in process.note


def test_a_registry_that_is_away_is_asked_again_for_a_while(docker_bench: DockerBench) -> None:
    bench = replace(docker_bench, host=replace(docker_bench.host, registry_patience_seconds=0.6))
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        launch(bench, f"127.0.0.1:{nobody_listens.getsockname()[1]}/vision/train:1")
        process = failed(bench)
    assert process.failing is Failing.IMAGE_UNAVAILABLE
    assert "connection refused" in process.note


def test_the_budget_of_a_registry_begins_at_the_first_trouble_after_the_last_progress() -> None:
    moment, told = [0.0], list[str]()
    budget = RetryBudget(seconds=10.0, now=lambda: moment[0])
    hear = budget.hearing(told.append)
    troubles = []
    for at, note in ((500, "120 MB"), (509, "0 MB"), (511, "0 MB"), (600, "121 MB"), (611, "0 MB")):
        hear("0 MB")
        moment[0] = at
        hear(note)
        troubles.append(budget.is_over())
    assert troubles == [False, False, True, False, True]
    assert told[:3] == ["0 MB", "120 MB", "0 MB"]


def test_who_waits_for_an_image_is_listed_as_preparing_and_can_be_stopped(
    docker_bench: DockerBench,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:  # takes calls and says nothing
        image = f"127.0.0.1:{server.getsockname()[1]}/vision/train:1"
        launch(docker_bench, image)
        assert_is_fetched(image, observed(docker_bench.host, "w1"))
        docker_bench.host.forget("w1")
        another = replace(docker_bench.host)  # as of another service process
        assert_is_fetched(image, observed(another, "w1"))
        another.stop("w1", grace_seconds=10.0)
        assert exited(docker_bench.host, "w1", has_log=False).exit_code == -15


def assert_is_fetched(image: str, process: ObservedProcess | None) -> None:
    assert process is not None
    assert (process.phase, process.node) == (ProcessPhase.PREPARING, "n1")
    assert image in process.note  # after a while in Docker's words, who got no answer


def test_progress_adds_up_all_layers() -> None:
    progress = ImagePullProgress(image="a/b:1")
    assert str(progress) == "fetching image a/b:1"
    for layer, so_far, total in (("l1", 20_000_000, 80_000_000), ("l2", 100_000_000, 400_000_000)):
        detail = {"current": so_far, "total": total}
        progress.take({"id": layer, "status": "Downloading", "progressDetail": detail})
    progress.take({"status": "Digest: sha256:1234"})
    assert str(progress) == "fetching image a/b:1: 120 of 480 MB"
    progress.take({"id": "l1", "status": "Download complete", "progressDetail": {}})
    assert str(progress) == "fetching image a/b:1: 180 of 480 MB"
