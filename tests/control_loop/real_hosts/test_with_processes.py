"""A few rules once more, with real processes instead of the twin."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest
from cluster.logs.log_store import JobLog
from cluster.process_host.host import ProcessHost
from cluster.process_host.process_environments import MachineEnvironments
from cluster.process_host.sweep import sweep
from cluster.process_host.user_settings import UserMode, UserSettings
from cluster.process_host.users.team_users import TeamUsers

from autoscaler.control_loop.housekeeping.disk_watch import DiskWatch, finder
from autoscaler.control_loop.tick import ControlLoop
from jobs.admission.disk_limits import DiskLimits
from jobs.commands.control import cancel
from jobs.models import Job
from tests import polling
from tests.control_loop.clocks import Clock, RunningClock
from tests.control_loop.world import World, claims, fresh, live_workers, states

ROOT = Path(__file__).parents[3]
TORCHRUN = str(ROOT / "examples" / "torchrun_ddp.py")
PACED = str(ROOT / "tests" / "worker" / "scripts" / "paced.py")
pytestmark = pytest.mark.timeout(600)  # seconds; real processes start, one even with PyTorch
USERS = UserSettings(
    mode=UserMode.AUTO,
    range=TeamUsers(first=1_951_000_000, last=1_951_099_999),
    is_everybody_trusted=False,
)
FOR_EVER = ["python", "-S", "-c", "import signal; print('up', flush=True); signal.pause()"]


@dataclass
class Machine:
    """A world whose processes are real; its jobs run in restart mode, so need no service."""

    world: World
    host: ProcessHost
    loop: ControlLoop

    def job(
        self,
        command: list[str],
        *,
        name: str = "digits",
        workers: int = 1,
        max_restarts: int = 3,
        grace: str = "1s",
    ) -> Job:
        elastic = {"mode": "restart", "max_workers": 4, "grace_period": grace}
        job = self.world.job(name, command=command, elastic=elastic, max_restarts=max_restarts)
        self.world.wish(job, workers)
        return job

    def tick_until(self, is_true: Callable[[], object], *, seconds: float = 240.0) -> None:
        began = time.monotonic()
        while not is_true():
            assert time.monotonic() < began + seconds, "the condition did not come true in time"
            self.loop.run_once()  # one that fails is made up for by the next
            polling.pause_before_a_tick(began)

    def pid(self, worker_id: str) -> int:
        """Of the worker's command, once it runs."""
        for process in psutil.process_iter():
            if _is_command_of(process, worker_id):
                return process.pid
        raise AssertionError(f"no process of {worker_id}")


def _is_command_of(process: psutil.Process, worker_id: str) -> bool:
    """False for its supervisor, and for a process that ends while it is looked at."""
    try:
        return process.ppid() > 1 and process.environ().get("CONCERTINA_WORKER_ID") == worker_id
    except psutil.Error:
        return False


@pytest.fixture
def clock() -> Clock:
    return RunningClock()


@pytest.fixture
def machine(world: World) -> Iterator[Machine]:
    host = ProcessHost(state_dir=world.state_dir)
    world.environments = MachineEnvironments(
        state_dir=world.state_dir,
        service_url="http://127.0.0.1:1",
        interpreter=Path(sys.executable),
        team_users=None if USERS.why_not_used else USERS.range,
    )
    loop = world.loop(host=host)
    yield Machine(world=world, host=host, loop=loop)
    sweep(world.state_dir, grace_seconds=0.0)


def text_of(machine: Machine, job: Job) -> list[str]:
    log = JobLog(job_id=job.id, state_dir=machine.world.state_dir)
    lines = log.page(tail=1000).lines
    return [line.text for line in lines]


def test_a_job_runs_to_its_end_and_its_logs_stay(machine: Machine) -> None:
    show = "import os; print(os.environ['RANK'], 'of', os.environ['WORLD_SIZE'])"
    job = machine.job(["python", "-S", "-c", show], workers=2)
    machine.tick_until(lambda: fresh(job).state == "completed")
    assert sorted(text_of(machine, job)) == ["0 of 2", "1 of 2"]
    assert claims() == set()
    assert machine.host.list().processes == ()


def test_a_crash_is_retried_and_its_last_line_is_the_message(machine: Machine) -> None:
    job = machine.job(["python", "-S", "-c", "1 / 0"], max_restarts=1)
    machine.tick_until(lambda: fresh(job).failures == 1)
    machine.world.clock.advance(5)
    machine.tick_until(lambda: fresh(job).state == "failed")
    assert fresh(job).attempt == 2
    assert "queued" in states(job)
    assert fresh(job).message.endswith("ZeroDivisionError: division by zero")


def test_a_command_that_does_not_exist_is_named(machine: Machine) -> None:
    job = machine.job(["pyhton", "train.py"])
    machine.tick_until(lambda: fresh(job).state == "failed")
    assert fresh(job).reason == "command_not_found"
    assert "command not found: 'pyhton'" in fresh(job).message


def test_a_new_control_process_adopts_what_runs(machine: Machine) -> None:
    job = machine.job(FOR_EVER, workers=2)
    machine.tick_until(lambda: len(text_of(machine, job)) == 2)
    workers = live_workers(job)
    pids = {machine.pid(worker) for worker in workers}
    machine.loop = replace(
        machine.loop, holder="another", host=ProcessHost(state_dir=machine.world.state_dir)
    )
    machine.tick_until(lambda: fresh(job).state == "running")
    assert live_workers(job) == workers
    assert {machine.pid(worker) for worker in workers} == pids


def test_a_killed_worker_brings_the_job_back_with_new_ones(machine: Machine) -> None:
    job = machine.job(FOR_EVER, workers=2)
    machine.tick_until(lambda: len(text_of(machine, job)) == 2)
    before = live_workers(job)
    os.kill(machine.pid(before[0]), signal.SIGKILL)
    machine.tick_until(lambda: fresh(job).losses and fresh(job).state == "running")
    assert not set(before) & set(live_workers(job))
    assert len(claims()) == 2


def test_a_cancelled_job_leaves_no_process_behind(machine: Machine) -> None:
    deaf = "import signal; signal.signal(15, signal.SIG_IGN); print('up', flush=True)"
    job = machine.job(["python", "-S", "-c", f"{deaf}; signal.pause()"])
    machine.tick_until(lambda: text_of(machine, job) == ["up"])
    pid = machine.pid(live_workers(job)[0])
    cancel(job_id=job.id, actor="ada")
    machine.tick_until(lambda: fresh(job).state == "cancelled")
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    assert machine.host.list().processes == ()


def test_a_job_that_writes_too_much_is_ended_and_the_other_goes_on(machine: Machine) -> None:
    measure = finder(most_files=1000)
    watch = DiskWatch.over(machine.world.state_dir, measure)
    machine.loop = replace(
        machine.loop,
        disk_watch=watch,
        disk_limits=DiskLimits(usual_bytes=32 << 20, most_bytes=32 << 20),
    )
    write = "open('all-mine', 'wb').write(bytes(64 << 20)); import signal; signal.pause()"
    greedy, modest = (
        machine.job(["python", "-S", "-c", write]),
        machine.job(FOR_EVER, name="modest"),
    )

    def is_ended() -> bool:
        machine.world.clock.advance(1)  # folders are looked into again and again
        return fresh(greedy).state == "failed"

    machine.tick_until(lambda: is_ended() and fresh(modest).disk_bytes is not None)
    ended = fresh(greedy)
    assert (ended.reason, ended.attempt, ended.failures) == ("out_of_disk", 1, 0)
    assert "more than the 32MiB that it may write" in ended.message
    assert fresh(modest).state in {"starting", "running"}


def test_the_torchrun_example_goes_on_from_its_own_checkpoint_with_more_workers(
    machine: Machine, open_folder: Path
) -> None:
    """It is slowed down until it has been resized, so that there is something left to do."""
    hurry = open_folder / "hurry"
    command = ["python", PACED, str(hurry), TORCHRUN, "--epochs", "6"]
    job = machine.job(command, grace="300s")

    def told() -> list[tuple[str, str, str]]:
        lines = "\n".join(text_of(machine, job))
        return re.findall(r"epoch (\d+) loss (\S+) workers (\d)", lines)

    machine.tick_until(lambda: len(told()) >= 1)
    machine.world.wish(job, 2)
    machine.tick_until(lambda: fresh(job).generation == 2)
    hurry.touch()
    machine.tick_until(lambda: fresh(job).state == "completed")
    epochs, losses, workers = zip(*told(), strict=True)
    assert [int(epoch) for epoch in epochs] == list(range(1, 7)), "an epoch is lost or repeated"
    assert (set(workers), workers[-1]) == ({"1", "2"}, "2")
    assert f"resumed at epoch {workers.index('2') + 1}" in text_of(machine, job)
    assert float(losses[-1]) < 0.5 * float(losses[0])
    assert (fresh(job).rescales, fresh(job).attempt, fresh(job).failures) == (1, 1, 0)
