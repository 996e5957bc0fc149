"""A worker that takes over a container which waited cannot tell, and nobody else can, either."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cluster.docker_host.connection.endpoint import Place
from cluster.docker_host.record.records import Records
from cluster.docker_host.record.warm_folders import WarmFolder
from cluster.lock_files import holding
from cluster.worker_host import Limits, ObservedProcess, ProcessPhase

from tests.docker_daemon import DockerDaemon

from .conftest import exited, forgotten, observed, until
from .warm_pool import MIB, MIRROR, Crash, WarmPool, waits, warm_pool_on


@pytest.fixture
def pool(docker_daemon: DockerDaemon, tmp_path: Path) -> Iterator[WarmPool]:
    with warm_pool_on(docker_daemon, tmp_path) as made:
        yield made


def test_a_worker_that_takes_over_sees_what_any_other_sees(pool: WarmPool) -> None:
    pool.keep(1)
    (container,) = pool.waiting()
    ordered_at = datetime.now(UTC)
    command = (*MIRROR, "/checkpoints/left_open", "exit", "7")
    options = {"env": {"TOKEN": "none"}, "secret_env": {"KEY": "sesame"}, "workdir": "/scripts"}
    pool.host.start(pool.launch("w1", *command, **options))
    pool.host.start(pool.launch("w2", *command, job="job2", **options))
    ended = [exited(pool.host, name) for name in ("w1", "w2")]
    assert [pool.took_over(name) for name in ("w1", "w2")] == [True, False]
    assert pool.container("w1")["Id"] == container
    assert [process.exit_code for process in ended] == [7, 7]
    assert ended[0].labels == pool.launch("w1").labels
    assert ended[0].started_at >= ordered_at
    (warm, warm_end), (cold, cold_end) = (
        reflection(pool.words(f"w{n}", job=f"job{n}")) for n in (1, 2)
    )
    assert (warm.pop("is_warm"), cold.pop("is_warm")) == (True, False)
    assert warm == cold
    assert warm_end == cold_end
    assert warm["env"]["KEY"] == "sesame"
    assert "sesame" not in json.dumps(pool.container("w1"))
    assert (pool.state / "jobs/job1/checkpoints/left_open").read_text() == "written"
    forgotten(pool.host, "w1")
    assert observed(pool.host, "w1") is None
    assert not (pool.state / "containers" / "w1").exists()
    assert not (pool.state / "jobs/job1/scratch/w1").exists()
    assert container not in {row["Id"] for row in pool.rows()}


def test_two_launches_at_once_take_two_different_ones_and_new_ones_come(pool: WarmPool) -> None:
    pool.keep(2)
    waiting = pool.waiting()
    pool.host.start(
        pool.launch("w1", *waits("w1")),
        pool.launch("w2", *waits("w2"), job="job2"),
        pool.launch("w3", *waits("w3"), job="job3"),
    )
    took = {name for name in ("w1", "w2", "w3") if pool.took_over(name)}
    assert {pool.container(name)["Id"] for name in took} == waiting
    pool.keep(2)
    assert not waiting & pool.waiting()
    running = set(pool.host.list().by_id())
    assert running == {"w1", "w2", "w3"}, "what waits is no process"


def test_a_jobs_second_worker_has_the_same_checkpoints_and_reaches_the_first(
    pool: WarmPool,
) -> None:
    pool.keep(2)
    pool.host.start(pool.launch("w1", *waits("w1")))
    until((pool.state / "jobs/job1/checkpoints/w1").exists)
    look = "import os, socket; print(socket.gethostbyname('w1'), os.listdir('/checkpoints'))"
    pool.host.start(pool.launch("w2", "python", "-c", look))
    exited(pool.host, "w2")
    networks = pool.container("w1")["NetworkSettings"]["Networks"]
    (address,) = [network["IPAddress"] for network in networks.values()]
    assert pool.words("w2") == [f"{address} ['w1']"]
    assert (pool.took_over("w1"), pool.took_over("w2")) == (True, False)
    assert len(pool.waiting()) == 1, "of a job only the first worker takes one over"


def test_a_worker_that_took_over_is_stopped_and_not_one_whose_image_says_it_is_that_one(
    pool: WarmPool,
) -> None:
    pool.keep(1)
    pool.host.start(pool.launch("w1", *waits("w1")))
    until((pool.state / "jobs/job1/checkpoints/w1").exists)
    assert pool.took_over("w1")
    warm_id = pool.container("w1")["Config"]["Labels"]["concertina.warm"]
    lying = pool.client.commit(
        pool.container("w1")["Id"], changes=[f"LABEL concertina.warm={warm_id}"]
    )["Id"]
    pool.host.start(pool.launch("w2", *waits("w2"), job="job2", image=lying))
    pool.host.stop("w1", grace_seconds=20.0)
    assert exited(pool.host, "w1").exit_code == -15
    forgotten(pool.host, "w1")
    (other,) = pool.host.list().processes
    assert (other.labels.process_id, other.phase) == ("w2", ProcessPhase.RUNNING)
    assert pool.container("w2")["Config"]["Labels"]["concertina.warm"] == ""


def test_a_worker_that_took_over_goes_when_its_record_is_torn(pool: WarmPool) -> None:
    """Only the record told which process it is: nobody could stop or forget it any more."""
    pool.keep(1)
    pool.host.start(pool.launch("w1", *waits("w1")))
    assert pool.took_over("w1")
    Records(state_dir=pool.state).of("w1").process_path.write_text("{")
    until(lambda: pool.host.list().processes == () and pool.rows() == [])


def test_the_limits_of_the_launch_hold_for_what_had_none(pool: WarmPool) -> None:
    pool.keep(1)
    limits = Limits(memory_bytes=64 * MIB, cpus=0.5)
    hog = (*MIRROR, "/checkpoints/w1", "allocate", str(256 * MIB))
    pool.host.start(pool.launch("w1", *hog, limits=limits))
    ended = exited(pool.host, "w1")
    assert pool.took_over("w1")
    assert ended.exit_code == -9
    host = pool.container("w1")["HostConfig"]
    assert (host["Memory"], host["MemorySwap"]) == (64 * MIB, 64 * MIB)
    assert (host["CpuPeriod"], host["CpuQuota"]) == (100_000, 50_000)


DIFFERENT: dict[str, dict[str, Any]] = {
    "libraries read something else at their import": {"env": {"OMP_NUM_THREADS": "3"}},
    "its command is no plain script or module": {"command": ("python", "-c", "pass")},
    "it has GPUs": {"gpu_names": ("GPU-1",), "command": ("python", "-m", "this")},
    "its job has run before": {"job": "old"},
    "it needs more shared memory": {"limits": Limits(shm_bytes=1 << 50)},
    "the loader would load something of its own": {"env": {"LD_AUDIT": "/nothing.so"}},
}


def test_a_launch_that_differs_starts_in_the_ordinary_way(pool: WarmPool) -> None:
    pool.keep(1)
    (pool.state / "jobs/old/checkpoints").mkdir(parents=True)
    taking_over = pool.another().taking_over

    def candidates(**different: Any) -> list[str]:
        command = different.pop("command", ("python", "-m", "this"))
        launch = pool.launch("w1", *command, **different)
        return list(taking_over.candidates(launch, pool.endpoint))

    assert len(candidates()) == 1
    found = {sentence: candidates(**different) for sentence, different in DIFFERENT.items()}
    assert found == {sentence: [] for sentence in DIFFERENT}


@pytest.mark.parametrize("step", ["inspect_container", "rename", "order"])
def test_who_dies_while_taking_over_loses_no_worker_and_leaves_none_twice(
    pool: WarmPool, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any, **__: Any) -> None:
        raise Crash

    pool.keep(1)
    launch = pool.launch("w1", *waits("w1"), limits=Limits(memory_bytes=128 * MIB))
    dying = pool.another()
    record = dying.records.of("w1")
    client = dying.connections.patient(pool.endpoint)
    with monkeypatch.context() as patched, holding(record.lock_path):
        record.begin(launch.labels, launch.node)
        patched.setattr(*((WarmFolder, step) if step == "order" else (client, step)), die)
        place = Place(endpoint=pool.endpoint, daemons=(pool.endpoint,))
        with pytest.raises(Crash):
            dying.taking_over.attempt(launch, place, record)
    assert pool.host.list().processes == ()

    def start() -> tuple[ObservedProcess, ...]:
        """As the control loop does, while what is left over is being removed."""
        pool.host.start(launch)
        return tuple(one for one in pool.host.list().processes if one.phase is ProcessPhase.RUNNING)

    (process,) = until(start)
    assert process.labels == launch.labels
    assert not pool.took_over("w1")
    pool.keep(1)
    assert len(pool.rows()) == 2
    assert not (pool.state / "jobs/job1/scratch/w1/.concertina-is-warm").exists()


def reflection(words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """What `mirror.py` saw, apart from what differs between any two, and what else it wrote."""
    first, second, *others = words
    seen = {**json.loads(first), **json.loads(second)}
    seen.pop("random")
    seen["env"].pop("HOSTNAME")
    return seen, others
