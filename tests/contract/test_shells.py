"""What do people find beside a worker, on each host that leads them there?"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cluster.process_host.shells import entrance
from cluster.shells import attendant
from cluster.shells.entrance import ShellStream
from cluster.worker_host import CannotEnter, Mount, WorkerNotThere

from tests.contract.conftest import (
    DockerBench,
    DrivenByFiles,
    ProcessBench,
    exited,
    texts,
    until,
)

Enter = Callable[[str], ShellStream]
LOOK = (
    "id -u; pwd; echo ${OF_THE_WORKER}-${OF_THE_TEAM}; echo ${DATABASE_URL:-nothing};"
    " grep -E 'CapEff|NoNewPrivs' /proc/self/status; exit 5"
)


@dataclass
class Heard:
    """What a command beside a worker wrote, and how it ended."""

    output: str
    end: dict[str, Any]


def run(stream: ShellStream, *command: str) -> Heard:
    stream.write(started(*command))
    frames, output, end = attendant.ShellFrames(), b"", dict[str, Any]()
    while not end:
        data = stream.read()
        assert data != b"", output
        for kind, payload in frames.feed(data or b""):
            if kind == attendant.ENDED:
                end = json.loads(payload)
            else:
                output += payload
    stream.close()
    return Heard(output=output.decode(), end=end)


def started(*command: str) -> bytes:
    """What the attendant is told first."""
    wanted = {"command": command, "is_terminal": False, "rows": 24, "columns": 80}
    return attendant.packed(attendant.START, json.dumps(wanted).encode())


def start(bench: DrivenByFiles, process_id: str, **options: Any) -> None:
    """Start a worker that runs until told otherwise, with a variable and a secret of its own."""
    environment = {"CONTROL": str(bench.seen_as / process_id), "OF_THE_WORKER": "worker"}
    script = "echo up; while [ ! -e $CONTROL.exit ]; do sleep 0.05; done"
    bench.launch(
        process_id,
        ("sh", "-c", script),
        env=environment,
        secret_env={"OF_THE_TEAM": "team"},
        **options,
    )
    until(lambda: "up" in texts(bench, process_id))


def entered(bench: DrivenByFiles, process_id: str) -> ShellStream:
    entrance = bench.host.entrance
    assert entrance is not None
    return entrance.enter(process_id, node="n1")


def test_a_command_beside_a_process_is_as_the_process_and_knows_nothing_of_the_service(
    process_bench: ProcessBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "secret")
    start(process_bench, "w1")
    heard = run(entered(process_bench, "w1"), "sh", "-c", LOOK)
    lines = heard.output.splitlines()

    assert lines[1:4] == [
        str(process_bench.host.state_dir / "jobs" / "job1" / "work"),
        "worker-team",
        "nothing",
    ]
    assert heard.end == {"exit_code": 5}


def test_nobody_gets_beside_a_process_that_has_ended(process_bench: ProcessBench) -> None:
    process_bench.start("w1")
    stream = entered(process_bench, "w1")
    process_bench.end("w1", 0)
    exited(process_bench.host, "w1")
    process_bench.host.forget("w1")  # before anybody has looked
    while stream.read() != b"":
        pass
    stream.close()

    with pytest.raises(WorkerNotThere):
        entered(process_bench, "w1")
    with pytest.raises(WorkerNotThere):
        entered(process_bench, "unknown")


def test_a_command_that_always_writes_ends_with_its_process_too(
    process_bench: ProcessBench,
) -> None:
    start(process_bench, "w1")
    stream = entered(process_bench, "w1")
    stream.write(started("yes"))
    until(stream.read)
    process_bench.end("w1", 0)
    exited(process_bench.host, "w1")

    until(lambda: stream.read() == b"")
    stream.close()


@pytest.mark.parametrize("signal", ["KILL", "STOP"])
def test_nothing_is_left_of_a_command_that_kills_or_stops_its_attendant(
    process_bench: ProcessBench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, signal: str
) -> None:
    monkeypatch.setattr(entrance, "_SEND_SECONDS", 0.1)
    monkeypatch.setattr(entrance, "_SEE_OFF_SECONDS", 0.1)
    start(process_bench, "w1")
    stream = entered(process_bench, "w1")
    script = f"setsid sleep 600 & echo $! > pid; kill -{signal} $PPID; touch done; sleep 600"
    stream.write(started("sh", "-c", f"cd {tmp_path}; {script}"))
    until(lambda: (tmp_path / "done").exists() or stream.read() == b"")
    pid = int((tmp_path / "pid").read_text())
    if signal == "STOP":
        with pytest.raises(TimeoutError):
            stream.write(b"x" * (1 << 20))
    stream.close()

    assert not Path(f"/proc/{pid}").exists()


def test_a_command_in_a_container_has_its_user_its_secrets_and_its_bounds(
    docker_bench: DockerBench,
) -> None:
    ours = [Mount(source=Path(one), target=one, is_writable=False, is_ours=False) for one in PYTHON]
    with_python = (*docker_bench.known["mounts"], *ours)
    start(docker_bench, "w1", mounts=with_python)
    heard = run(entered(docker_bench, "w1"), "sh", "-c", LOOK)
    lines = heard.output.splitlines()

    assert lines[0] == "10001"
    assert lines[2:4] == ["worker-team", "nothing"]
    assert [line.split()[1] for line in lines[4:6]] == ["0000000000000000", "1"]
    assert heard.end == {"exit_code": 5}


def test_a_container_without_python_is_refused_in_words(docker_bench: DockerBench) -> None:
    docker_bench.start("w1")
    stream = entered(docker_bench, "w1")
    with pytest.raises(CannotEnter, match="has no python3"):
        run(stream, "true")
    stream.close()


PYTHON = ("/usr/bin", "/usr/lib", "/usr/lib64", "/lib", "/lib64") if sys.platform == "linux" else ()
