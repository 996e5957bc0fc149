"""What a process in a container may not do, see or use up."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from cluster import machine
from cluster.docker_host.container import containers
from cluster.worker_host import (
    Failing,
    Launch,
    LaunchRefused,
    ProcessLimits,
    ProcessRole,
)

from tests.contract.conftest import DockerBench, exited, forgotten, labels, texts
from tests.contract.docker_host.docker_view import RUN_FOR_EVER, container_name
from tests.docker_daemon import DockerDaemon, import_tiny_image


def test_a_process_is_confined(docker_bench: DockerBench) -> None:
    script = """
    touch /evil 2>&1; touch /bin/evil 2>&1
    grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status
    echo user $(id -u):$(id -g); echo at $(pwd) home $HOME
    touch mine /tmp/mine && echo scratch is writable
    echo shm $(df -k /dev/shm | tail -n 1 | awk '{print $2}')
    echo first $(cat /proc/1/comm); ls /var/run/docker.sock /run/docker.sock 2>&1
    echo interfaces $(ip -o link | grep -v LOOPBACK | wc -l)
    """
    limits = ProcessLimits(memory_bytes=64 << 20)
    docker_bench.launch("w1", ("sh", "-c", script), limits=limits)
    exited(docker_bench.host, "w1")
    said = texts(docker_bench, "w1")
    assert "touch: /evil: Read-only file system" in said
    assert "touch: /bin/evil: Read-only file system" in said
    assert {"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"} <= set(said)
    assert {"user 10001:10001", "at /scratch home /scratch", "scratch is writable"} <= set(said)
    assert f"shm {32 << 10}" in said  # half of the memory
    assert {"first docker-init", "interfaces 1"} <= set(said)
    for place in ("/var/run", "/run"):
        assert f"ls: {place}/docker.sock: No such file or directory" in said


def test_a_fork_bomb_stops_at_the_limit_of_processes(docker_bench: DockerBench) -> None:
    bench = replace(docker_bench, host=replace(docker_bench.host, pids=24))
    bomb = "for i in $(seq 200); do sleep 60 & done; echo all of them"
    bench.launch("w1", ("sh", "-c", bomb))
    assert exited(bench.host, "w1").exit_code != 0
    assert "all of them" not in texts(bench, "w1")
    assert any("can't fork" in text for text in texts(bench, "w1"))


def test_a_process_that_takes_too_much_memory_is_told_apart_from_a_crash(
    docker_bench: DockerBench,
) -> None:
    """One in a while is: on a busy machine Docker often hears of it too late."""
    hog, failing = ("sh", "-c", "exec tail /dev/zero"), set[Failing | None]()
    names = (f"w{number}" for number in range(1, 50))
    while Failing.OUT_OF_MEMORY not in failing:
        name = next(names)
        docker_bench.launch(name, hog, limits=ProcessLimits(memory_bytes=32 << 20))
        process = exited(docker_bench.host, name)
        assert process.exit_code == -9
        failing.add(process.failing)
    name = next(names)
    docker_bench.launch(name, ("sh", "-c", "kill -KILL $$"))
    process = exited(docker_bench.host, name)
    assert (process.exit_code, process.failing) == (-9, None)


def test_a_process_that_names_no_memory_has_a_share_of_the_nodes_and_no_swap(
    docker_bench: DockerBench, docker_daemon: DockerDaemon
) -> None:
    script = ("cat", "/proc/self/oom_score_adj")
    docker_bench.launch("w1", script, limits=ProcessLimits(node_share=0.25))
    exited(docker_bench.host, "w1")
    total = docker_daemon.client().info()["MemTotal"]
    memory = machine.share_of(total, 0.25)
    host = docker_daemon.client().inspect_container(container_name(docker_bench, "w1"))[
        "HostConfig"
    ]
    assert (host["Memory"], host["MemorySwap"], host["ShmSize"]) == (memory, memory, memory // 2)
    assert 0 < memory < total
    assert texts(docker_bench, "w1") == ["500"]


def test_its_share_of_the_node_is_a_cap_and_weighs_its_wish_for_cpus(
    docker_bench: DockerBench, docker_daemon: DockerDaemon
) -> None:
    machine_of_it = docker_bench.host.machine("n1")
    total = docker_daemon.client().info()["MemTotal"]
    assert (machine_of_it.memory_bytes, machine_of_it.cpus > 0) == (total, True)
    greedy = ProcessLimits(memory_bytes=total * 2, node_share=0.25)
    docker_bench.launch("w1", ("true",), limits=greedy)
    exited(docker_bench.host, "w1")
    container = container_name(docker_bench, "w1")
    host = docker_daemon.client().inspect_container(container)["HostConfig"]
    assert host["Memory"] == machine.share_of(total, 0.25)
    assert host["CpuShares"] == 2048


GIB = 1 << 30


@pytest.mark.parametrize(
    ("total", "share", "bytes_"),
    [
        (40 * GIB, 0.25, 9 * GIB),  # a tenth is for the platform
        (1040 * GIB, 1.0, 1024 * GIB),  # but never more than 16 GiB
        (8 * GIB, 1 / 64, GIB),  # enough for PyTorch, however many slots there are
        (GIB // 2, 1.0, GIB // 2),
    ],
)
def test_the_share_of_a_nodes_memory(total: int, share: float, bytes_: int) -> None:
    assert machine.share_of(total, share) == bytes_


def test_secrets_are_seen_inside_only(
    docker_bench: DockerBench, docker_daemon: DockerDaemon
) -> None:
    secret = 'it\'s "secret" $HOME `id` \\ \nand two lines'
    script = 'printf "%s" "$MINE" | od -An -tx1 | tr -d " \\n"; echo; ls -la /run/concertina'
    docker_bench.launch("w1", ("sh", "-c", script), secret_env={"MINE": secret})
    exited(docker_bench.host, "w1")
    assert bytes.fromhex(texts(docker_bench, "w1")[0]).decode() == secret
    details = docker_daemon.client().inspect_container(container_name(docker_bench, "w1"))
    assert "secret" not in json.dumps(details).replace("secrets", "")
    folder = docker_bench.host.state_dir / "containers"
    assert folder.stat().st_mode & 0o077 == 0
    forgotten(docker_bench.host, "w1")
    assert list(folder.iterdir()) == []


def test_a_name_that_cannot_be_exported_is_refused(docker_bench: DockerBench) -> None:
    with pytest.raises(LaunchRefused, match="cannot be an environment variable"):
        docker_bench.launch("w1", RUN_FOR_EVER, secret_env={"a; id": "x"})
    for process_id in ("../w1", "", ".hidden", "a/b"):
        with pytest.raises(LaunchRefused, match="cannot name a process"):
            docker_bench.launch(process_id, RUN_FOR_EVER)
    assert docker_bench.host.list().processes == ()


@pytest.mark.parametrize(
    ("gpu_names", "visible"), [((), "void"), (("GPU-aa", "GPU-bb"), "GPU-aa,GPU-bb")]
)
def test_a_container_sees_its_own_gpus_whatever_its_spec_and_the_nodes_runtime_say(
    gpu_names: tuple[str, ...], visible: str
) -> None:
    for role in ProcessRole:
        launch = Launch(
            labels=replace(labels("w1"), role=role),
            command=("true",),
            env={"NVIDIA_VISIBLE_DEVICES": "all"},
            node="n1",
            gpu_names=gpu_names,
        )
        assert containers.environment(launch)["NVIDIA_VISIBLE_DEVICES"] == visible


def test_volumes_of_an_image_are_a_little_memory(
    docker_bench: DockerBench, docker_daemon: DockerDaemon
) -> None:
    client = docker_daemon.client()
    places = ("/data/", "/tmp", "/scratch", "/dev/shm", "/scratch/deep")  # noqa: S108
    import_tiny_image(client, "with-volumes:1", volumes=places)
    script = """
    for place in /data /tmp /scratch/deep /dev/shm; do
      touch $place/mine && stat -f -c %T $place && df -k $place | awk 'NR==2 {print $2}'
    done
    """
    limits = ProcessLimits(memory_bytes=256 << 20)
    docker_bench.launch("w1", ("sh", "-c", script), image="with-volumes:1", limits=limits)
    exited(docker_bench.host, "w1")
    told = texts(docker_bench, "w1")
    assert told[::2] == ["tmpfs"] * 4
    assert told[1::2] == ["65536", "262144", "65536", "131072"]
    details = client.inspect_container(container_name(docker_bench, "w1"))
    assert "volume" not in {mount["Type"] for mount in details["Mounts"]}
