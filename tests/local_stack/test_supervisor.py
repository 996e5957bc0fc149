"""What dies is started again; what is stopped leaves nothing; a killed parent takes all along."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from local_stack.processes.child_process import ProcessSpec
from local_stack.processes.supervisor import StackSupervisor

PATIENCE_SECONDS = 90.0


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def shell(
    folder: Path, script: str, name: str = "worker", *, stop_seconds: float = 60.0
) -> ProcessSpec:
    return ProcessSpec(
        name=name,
        command=("sh", "-c", script),
        log=folder / f"{name}.log",
        working_directory=folder,
        stop_seconds=stop_seconds,
    )


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def supervisor(told: list[str]) -> Iterator[StackSupervisor]:
    made = StackSupervisor(say=told.append)
    yield made
    made.stop()


def test_a_killed_process_is_started_again_and_the_person_is_told(
    supervisor: StackSupervisor, told: list[str], folder: Path
) -> None:
    supervisor.start(shell(folder, "exec sleep 600"))
    first = supervisor.records()[0]
    os.kill(first.pid, signal.SIGKILL)
    wait_for(lambda: supervisor.run_once() and supervisor.records()[0].restarts)
    second = supervisor.records()[0]
    assert second.pid != first.pid
    assert is_running(second.pid)
    assert second.last_exit == "was ended by SIGKILL"
    assert any("worker was ended by SIGKILL; starting it again" in line for line in told)


def test_a_process_that_keeps_dying_is_started_less_and_less_often(
    supervisor: StackSupervisor, told: list[str], folder: Path
) -> None:
    supervisor.start(shell(folder, "exit 3"))
    wait_for(lambda: supervisor.run_once() and supervisor.records()[0].restarts >= 3)
    delays = [line.split(" in ")[1].split(" (")[0] for line in told if "starting it again" in line]
    assert delays[:3] == ["0.2 s", "0.4 s", "0.8 s"]


def test_stopping_leaves_nothing_not_even_what_ignores_the_signal(
    supervisor: StackSupervisor, folder: Path
) -> None:
    child = folder / "child"
    script = f"trap '' TERM; sleep 600 & echo $! > {child}; sleep 601"
    supervisor.start(shell(folder, script, stop_seconds=0.5))
    wait_for(lambda: child.exists() and child.read_text().strip())
    parent = supervisor.records()[0].pid
    supervisor.stop()
    assert not is_running(parent)
    wait_for(lambda: not is_running(int(child.read_text())))


def test_processes_stop_in_the_reverse_order_of_their_start(
    supervisor: StackSupervisor, folder: Path
) -> None:
    order = folder / "order"
    for name in ("server", "service"):
        script = (
            f"trap 'echo {name} >> {order}; exit' TERM; touch {name}; while :; do sleep 0.05; done"
        )
        supervisor.start(shell(folder, script, name))
        wait_for((folder / name).exists)
    supervisor.stop()
    assert order.read_text().split() == ["service", "server"]


KILLED_PARENT = """
import sys, time
from pathlib import Path
from local_stack.processes.child_process import ProcessSpec
from local_stack.processes.supervisor import StackSupervisor
folder = Path(sys.argv[1])
spec = ProcessSpec(
    name="one", command=("sleep", "600"), log=folder / "log", working_directory=folder
)
supervisor = StackSupervisor(say=print)
supervisor.start(spec)
(folder / "part").write_text(str(supervisor.records()[0].pid))
(folder / "part").rename(folder / "pid")
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's promise is Linux's")
def test_a_supervisor_killed_with_9_takes_its_processes_along(folder: Path) -> None:
    with subprocess.Popen((sys.executable, "-c", KILLED_PARENT, str(folder))) as parent:
        wait_for((folder / "pid").exists)
        child = int((folder / "pid").read_text())
        wait_for(lambda: is_running(child))
        parent.kill()
    wait_for(lambda: not is_running(child))
