"""Is all kept that a container writes, however it writes, and whoever dies meanwhile?"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from cluster.docker_host.record.records import Records
from cluster.worker_host import Launch

from tests.contract.conftest import DockerBench, exited, labels, texts, until
from tests.contract.docker_host.docker_view import run_elsewhere


def test_logs_keep_partial_lines_garbage_and_long_lines(docker_bench: DockerBench) -> None:
    long_line = "head -c 40000 /dev/zero | tr '\\0' y"
    full_line = "head -c 16384 /dev/zero | tr '\\0' z"
    script = (
        r"printf 'caf\303\251\r\n\n'; printf 'bad \377\000\033[1m\n'"
        f"; {long_line}; echo; {full_line}; echo; printf 'no newline' >&2"
    )
    docker_bench.launch("w1", ("sh", "-c", script))
    exited(docker_bench.host, "w1")
    lines = list(docker_bench.host.logs(("w1",), job_id="job1"))
    out = [line.text for line in lines if line.stream == "stdout"]
    assert out[:3] == ["café", "", "bad \ufffd\ufffd\x1b[1m"]
    assert "".join(out[3:-1]) == "y" * 40000
    assert out[-1] == "z" * 16384
    assert [line.text for line in lines if line.stream == "stderr"] == ["no newline"]


def test_a_flood_of_output_is_kept_whole_whoever_dies_meanwhile(docker_bench: DockerBench) -> None:
    """Service processes that copy it are killed again and again."""
    script = "i=0; while [ $i -lt 30000 ]; do echo $i; echo $i >&2; i=$((i+1)); done"
    command = ("sh", "-c", f"until [ -e /control/go ]; do sleep 0.05; done; {script}")
    launch = Launch(labels=labels("w1"), command=command, **docker_bench.known)
    path = docker_bench.host.state_dir / "logs" / "job1" / "w1.log"
    code = f"""
        import pickle, time
        host.start(pickle.loads({pickle.dumps(launch)!r}))  # again does nothing
        while host.list().processes: print("follows", flush=True); time.sleep(0.01)
    """
    with contextlib.ExitStack() as ended:
        services = []
        for number in range(3):
            heard = docker_bench.folder / f"service{number}"
            with heard.open("wb") as output:
                services.append(run_elsewhere(docker_bench, code, stdout=output))
            ended.callback(services[-1].wait)
            ended.callback(services[-1].kill)
            until(lambda heard=heard: heard.read_text())  # type: ignore[misc]
        (docker_bench.folder / "go").touch()
        for number, service in enumerate(services):
            until(lambda number=number: size_of(path) > 200_000 * number)  # type: ignore[misc]
            service.kill()
    exited(docker_bench.host, "w1")
    lines = list(docker_bench.host.logs(("w1",), job_id="job1"))
    for stream in ("stdout", "stderr"):
        said = [line.text for line in lines if line.stream == stream]
        assert said == [str(number) for number in range(30_000)]


def test_another_copier_goes_on_where_one_was_killed(docker_bench: DockerBench) -> None:
    script = "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done"
    command = ("sh", "-c", f"until [ -e /control/go ]; do sleep 0.05; done; {script}")
    of_earlier_hosts = copiers()
    docker_bench.launch("w1", command)
    path = docker_bench.host.state_dir / "logs" / "job1" / "w1.log"
    (docker_bench.folder / "go").touch()
    until(lambda: size_of(path))
    (first,) = until(lambda: copiers() - of_earlier_hosts)
    os.kill(first, signal.SIGKILL)
    until(lambda: docker_bench.host.list() and copiers() - of_earlier_hosts - {first})
    exited(docker_bench.host, "w1")
    until(lambda: docker_bench.host.list() and texts(docker_bench, "w1")[-1:] == ["19999"])
    assert texts(docker_bench, "w1") == [str(number) for number in range(20_000)]


def copiers() -> set[int]:
    """Those that this process has started."""
    children = {child.pid for child in psutil.Process().children()}
    return {pid for pid in children if b"logs.copier" in read(Path(f"/proc/{pid}/cmdline"))}


@pytest.mark.parametrize("left", [b"", b'{"container": "', b"\0" * 64])
def test_a_note_of_how_far_a_log_was_copied_that_a_power_cut_tore_costs_nothing(
    docker_bench: DockerBench, left: bytes
) -> None:
    docker_bench.launch("w1", ("sh", "-c", "echo a; echo b >&2; printf c"))
    process = exited(docker_bench.host, "w1")
    cursor = Records(state_dir=docker_bench.host.state_dir).of("w1").log_cursor_path
    until(lambda: b'"is_complete": true' in read(cursor))
    cursor.write_bytes(left)
    with contextlib.closing(replace(docker_bench.host)) as fresh:
        assert fresh.list().processes == (process,)
        until(lambda: b'"is_complete": true' in read(cursor))
    assert sorted(line.text for line in fresh.logs(("w1",), job_id="job1")) == ["a", "b", "c"]


def size_of(path: Path) -> int:
    """None yet, if it is not there."""
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def read(path: Path) -> bytes:
    """Nothing, if it is not there, or the process it tells of has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return path.read_bytes()
    return b""
