"""As many containers wait warm as are wished for, and what cannot get warm says why."""

from __future__ import annotations

import io
import os
import re
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cluster.docker_host.container.containers import SCRATCH
from cluster.docker_host.record.warm_folders import WarmFolder
from cluster.docker_host.sweep import sweep
from cluster.docker_host.warm import waiting
from cluster.worker_host import WarmWish

from tests.docker_daemon import DockerDaemon

from .conftest import exited, until
from .warm_pool import Crash, WarmPool, waits, warm_pool_on


@pytest.fixture
def pool(docker_daemon: DockerDaemon, tmp_path: Path) -> Iterator[WarmPool]:
    with warm_pool_on(docker_daemon, tmp_path) as made:
        yield made


def test_what_waits_sees_nothing_of_any_job_and_reaches_nothing(pool: WarmPool) -> None:
    pool.host.start(pool.launch("w1", *waits("w1")))
    pool.keep(1)
    (container,) = pool.waiting()
    details = pool.client.inspect_container(container)
    sources = {mount["Destination"]: Path(mount["Source"]) for mount in details["Mounts"]}
    assert sources.keys() == {"/checkpoints", "/scratch", "/run/concertina"}
    assert all(source.is_relative_to(pool.state / "warm") for source in sources.values())
    assert list(details["NetworkSettings"]["Networks"]) == ["none"]
    confined, plain = details["HostConfig"], pool.container("w1")["HostConfig"]
    same = ("CapDrop", "SecurityOpt", "ReadonlyRootfs", "PidsLimit", "Ulimits", "Tmpfs", "Init")
    assert [confined[name] for name in same] == [plain[name] for name in same]
    assert details["Config"]["User"] == "10001:10001"


def test_an_image_with_another_digest_is_not_taken_over_and_what_waits_is_made_anew(
    pool: WarmPool,
) -> None:
    tag = f"{pool.image}-moved"
    repository, _, version = tag.rpartition(":")
    pool.client.tag(pool.image, repository, version, force=True)
    pool.image = tag
    pool.keep(1)
    (older,) = pool.waiting()
    rebuilt = pool.client.commit(older)
    pool.client.tag(rebuilt["Id"], repository, version, force=True)
    pool.host.start(pool.launch("w1", "python", "-m", "this", image=tag))
    assert exited(pool.host, "w1").exit_code == 0
    assert not pool.took_over("w1")
    until(lambda: pool.stocks() and older not in pool.waiting())
    pool.keep(1)


def test_one_that_cannot_import_says_why(pool: WarmPool) -> None:
    pool.host = replace(pool.host, warm_modules=("no_such_module",))
    wish = WarmWish(node="n1", image=pool.image, count=2, targets=("/checkpoints",))
    pool.wishes = (wish,)
    why = "one ended with exit code 1: ModuleNotFoundError: No module named 'no_such_module'"
    until(lambda: pool.stocks() == [(0, why)])


def test_one_that_cannot_start_says_why_and_holds_up_no_other(pool: WarmPool) -> None:
    bad = f"concertina-tests/scratch-is-a-file:{os.getpid()}"
    pool.client.import_image_from_data(tar_of("scratch"), *bad.split(":"))
    names = (bad, pool.image)
    pool.wishes = tuple(WarmWish(node="n1", image=name, count=1) for name in names)
    until(lambda: [warm for warm, _ in pool.stocks()] == [0, 1])
    assert re.match("one did not start: .*not a directory", pool.stocks()[0][1])
    assert len(pool.rows()) == 1, "it is not tried again at once"


def test_one_whose_maker_died_before_its_start_is_replaced(
    pool: WarmPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any, **__: Any) -> None:
        raise Crash

    dying = pool.another()
    making = dying.warm_keeping.making
    image_id = pool.client.inspect_image(pool.image)["Id"]
    wish = WarmWish(node="n1", image=pool.image, count=1, targets=("/checkpoints",))
    kind = making.kind(wish, image_id, pool.endpoint)
    monkeypatch.setattr(dying.connections.patient(pool.endpoint), "start", die)
    with pytest.raises(Crash):
        making.begin(kind, pool.endpoint)
    (abandoned,) = pool.waiting()
    pool.keep(1)
    assert abandoned not in pool.waiting()


def test_one_that_never_gets_warm_goes_and_that_is_told(
    pool: WarmPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.keep(1)
    (folder,) = (pool.state / "warm").iterdir()
    WarmFolder.mark_in(WarmFolder(folder=folder).mounted(SCRATCH)).unlink()
    monkeypatch.setattr(waiting, "WARM_WITHIN_SECONDS", 0.0)
    until(lambda: pool.stocks() == [(0, "one was not warm after 300 s")] and not pool.rows())


def test_an_image_that_is_not_there_is_fetched_or_the_registrys_words_are_told(
    pool: WarmPool,
) -> None:
    pool.wishes = (WarmWish(node="n1", image="127.0.0.1:1/none:1"),)
    until(lambda: "127.0.0.1:1" in pool.stocks()[0][1] if pool.stocks() else False)


def test_nothing_waits_that_is_not_wished_for_and_what_was_left_over_goes(
    pool: WarmPool,
) -> None:
    pool.keep(2)
    names = [path.name for path in (pool.state / "warm").iterdir()]
    without_container, without_folder = (pool.state / "warm" / name for name in names)
    name = f"concertina-{pool.host.installation}.warm-{without_container.name}"
    pool.client.remove_container(name, force=True)
    without_folder.rename(pool.state / "elsewhere")
    pool.wishes = ()
    until(lambda: not pool.stocks() and not pool.rows())
    until(lambda: not list((pool.state / "warm").iterdir()))


def test_a_sweep_removes_what_waits(pool: WarmPool) -> None:
    pool.keep(1)
    told = {"installation": pool.host.installation, "state_dir": pool.state}
    assert sweep(pool.daemon.url, **told, grace_seconds=0.0) == 0
    assert not pool.rows()
    assert not list((pool.state / "warm").iterdir())


def tar_of(name: str) -> bytes:
    """An image with one file, which is empty."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name))
    return written.getvalue()
