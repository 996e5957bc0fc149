"""Jobs that write more than they may are ended, and measuring them keeps no tick waiting."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from cluster.files.disk_walk import DiskUsage
from storage.code.paths import CodePaths
from storage.data.rules import DataRules

from autoscaler.control_loop.housekeeping.disk_lane import MOST_PENDING
from autoscaler.control_loop.housekeeping.disk_watch import DiskWatch
from autoscaler.control_loop.lease.exclusive import exclusively
from autoscaler.control_loop.lease.orders import FencedOrders
from autoscaler.control_loop.outside.process_table import ProcessTable
from autoscaler.control_loop.tick_context import TickContext
from jobs.models import Event, Job
from tests.control_loop.nodes.test_gpu_discovery import ticks_until
from tests.control_loop.world import World, fresh, kinds

GIB = 1 << 30
THOROUGH = 60.0  # seconds; who has longer is in the lane of those that take long


def found(bytes_: int, *, files: int = 10, is_closed: bool = False) -> DiskUsage:
    return DiskUsage(bytes_=bytes_, files=files, is_closed=is_closed, is_whole=True)


@dataclass(slots=True, kw_only=True)
class Disks:
    """What lies in each folder, and a disk that may keep everybody waiting.

    Each look takes as long as a test says, by the clock of the thread that looks.
    """

    found: dict[str, DiskUsage] = field(default_factory=dict)  # by job
    asked: list[str] = field(default_factory=list)
    may_answer: threading.Event = field(default_factory=threading.Event)
    broken: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)  # that the last look may take, by job
    took: dict[str, float] = field(default_factory=dict)  # seconds of each look, by job
    may_be_thorough: threading.Event = field(default_factory=threading.Event)
    _clock: threading.local = field(default_factory=threading.local)

    def __call__(self, folder: Path, seconds: float) -> DiskUsage | None:
        self.seconds[folder.name] = seconds
        self.asked.append(folder.name)
        assert self.may_answer.wait(90)
        assert seconds < THOROUGH or self.may_be_thorough.wait(90)
        self._clock.now = self.now() + self.took.get(folder.name, 0.0)
        if folder.name in self.broken:
            raise OSError("Input/output error")
        return self.found.get(folder.name)

    def now(self) -> float:
        return float(getattr(self._clock, "now", 0.0))


@pytest.fixture
def disks(world: World) -> Disks:
    """Of the small world; they answer at once."""
    made = Disks()
    made.may_answer.set()
    made.may_be_thorough.set()
    world.disk_watch = DiskWatch.over(world.state_dir, made, clock=made.now)
    return made


def measured(job: Job, bytes_: int) -> bool:
    return fresh(job).disk_bytes == bytes_


def test_a_job_that_writes_too_much_fails_once_and_the_other_goes_on(
    world: World, disks: Disks
) -> None:
    greedy, modest = world.job("greedy", elastic={"grace_period": "1h"}), world.job("modest")
    world.running(greedy, 2)
    world.running(modest, 2)
    disks.found = {greedy.id: found(51 * GIB), modest.id: found(49 * GIB)}
    world.clock.advance(11)
    ticks_until(world, lambda: fresh(greedy).state == "stopping" and measured(modest, 49 * GIB))
    world.host.exit(f"{greedy.id}-coordinator", 0)
    world.tick(2)
    assert fresh(greedy).state == "failed"
    job = fresh(greedy)
    assert (job.reason, job.failures, job.attempt) == ("out_of_disk", 0, 1)
    assert job.message.startswith("Its files take 51.0 GiB, more than the 50GiB")
    stopping = Event.objects.get(job=greedy, new_state="stopping")
    assert stopping.data == {"bytes": 51 * GIB, "files": 10}
    graces = [grace for worker, grace in world.host.stops if worker.startswith(f"{greedy.id}-1-")]
    assert set(graces) == {5.0}, "there is no time for a last checkpoint"
    assert fresh(modest).state == "running"


def test_a_job_that_nears_its_limit_is_told_so_once(world: World, disks: Disks) -> None:
    job = world.job()
    disks.found[job.id] = found(40 * GIB)
    world.running(job, 1)
    ticks_until(world, lambda: measured(job, 40 * GIB))
    world.tick()
    assert "disk_filling" not in kinds(job)
    for gibibytes in (41, 42):
        disks.found[job.id] = found(gibibytes * GIB)
        world.clock.advance(11)
        ticks_until(world, lambda size=gibibytes * GIB: measured(job, size))
        world.tick()
    assert kinds(job).count("disk_filling") == 1
    told = Event.objects.get(job=job, kind="disk_filling")
    assert told.message.startswith("Its files take 41.0 GiB of the 50GiB that it may write")
    assert fresh(job).state == "running"


def test_a_job_of_which_nothing_is_known_is_left_alone(world: World, disks: Disks) -> None:
    job = world.job()
    world.running(job, 1)
    ticks_until(world, lambda: job.id in disks.asked)
    world.tick(3)
    assert (fresh(job).state, fresh(job).disk_bytes) == ("running", None)


def test_a_job_is_measured_again_after_a_while_and_not_before(world: World, disks: Disks) -> None:
    job = world.job()
    disks.found[job.id] = found(GIB)
    world.running(job, 1)
    ticks_until(world, lambda: measured(job, GIB))
    disks.found[job.id] = found(2 * GIB)
    world.clock.advance(9)
    world.tick(3)
    assert disks.asked == [job.id]
    world.clock.advance(2)
    ticks_until(world, lambda: measured(job, 2 * GIB))
    assert disks.asked == [job.id, job.id]


def test_a_look_that_was_not_finished_takes_nothing_back(world: World, disks: Disks) -> None:
    """What it did not come to is there as before."""
    job, watch = world.job(), world.disk_watch
    assert watch is not None
    disks.found[job.id] = found(40 * GIB)
    world.running(job, 1)
    ticks_until(world, lambda: measured(job, 40 * GIB))
    disks.found[job.id] = replace(found(GIB), is_whole=False)
    world.clock.advance(11)
    ticks_until(world, lambda: len(disks.asked) == 2 and not watch.quick.pending)
    assert fresh(job).disk_bytes == 40 * GIB
    disks.found[job.id] = replace(found(2 * GIB, files=11), is_whole=False)
    world.clock.advance(11)
    ticks_until(world, lambda: fresh(job).disk_files == 11)
    assert fresh(job).disk_bytes == 40 * GIB


def test_no_tick_waits_for_a_disk_and_none_asks_twice(world: World, disks: Disks) -> None:
    disks.may_answer.clear()
    job = world.job()
    disks.found[job.id] = found(GIB)
    world.running(job, 1)
    world.clock.advance(3600)
    world.tick(3)
    assert fresh(job).disk_bytes is None
    disks.may_answer.set()
    ticks_until(world, lambda: measured(job, GIB))
    assert disks.asked == [job.id]


def test_a_job_whose_files_take_long_keeps_none_of_the_others_waiting(
    world: World, disks: Disks
) -> None:
    slow, quick = world.job("slow"), world.job("quick")
    disks.took[slow.id] = 10.0
    disks.may_be_thorough.clear()
    world.running(slow, 1)
    world.running(quick, 1)
    ticks_until(world, lambda: disks.seconds.get(slow.id, 0.0) > THOROUGH)
    for size in (GIB, 2 * GIB, 3 * GIB):
        disks.found[quick.id] = found(size)
        world.clock.advance(11)
        ticks_until(world, lambda size=size: measured(quick, size))
    assert fresh(slow).disk_bytes is None
    disks.found[slow.id] = found(51 * GIB)
    disks.may_be_thorough.set()
    ticks_until(world, lambda: fresh(slow).state == "stopping")


def test_a_disk_that_fails_for_one_job_is_read_for_the_others(
    world: World, disks: Disks, caplog: pytest.LogCaptureFixture
) -> None:
    bad, good = world.job("bad"), world.job("good")
    disks.broken.add(bad.id)
    disks.found[good.id] = found(GIB)
    world.running(bad, 1)
    world.running(good, 1)
    ticks_until(world, lambda: measured(good, GIB) and "Input/output error" in caplog.text)
    assert fresh(bad).state == "running"
    world.clock.advance(11)
    ticks_until(world, lambda: disks.asked.count(bad.id) == 2)
    until_nobody_looks()
    world.tick()
    assert caplog.text.count("Input/output error") == 1, "admins are told once"


def test_only_so_many_folders_wait_to_be_looked_into(world: World, disks: Disks) -> None:
    jobs = [world.job(f"job-{number}") for number in range(MOST_PENDING + 10)]
    Job.objects.update(state="running")
    watch = world.disk_watch
    assert watch is not None
    with exclusively(holder="test", now=world.clock()) as fence:
        assert fence is not None
        context = TickContext(
            processes=ProcessTable(
                world.host, FencedOrders(fence=fence, state_dir=world.state_dir)
            ),
            clock=world.clock,
            fence=fence,
            environments=world.environments,
            code=CodePaths(state_dir=world.state_dir),
            data=DataRules(state_dir=world.state_dir),
        )
        watch.go_on(context)
        until_nobody_looks()
        assert len(disks.asked) == MOST_PENDING
        watch.go_on(context)
        until_nobody_looks()
    assert sorted(disks.asked) == sorted(job.id for job in jobs), "those that waited come first"
    Job.objects.all().delete()


def until_nobody_looks() -> None:
    give_up_at = time.monotonic() + 90
    while any(thread.name == "measure-disk" for thread in threading.enumerate()):
        assert time.monotonic() < give_up_at, "somebody still looks into folders"
        time.sleep(0.01)
