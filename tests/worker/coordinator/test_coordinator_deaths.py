"""The coordinator is killed in each phase; the next one takes over and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from concertina_worker.coordinator.state_file import StateFile
from concertina_worker.protocol import ExitCode
from tests.worker.running_job import RunningJob
from tests.worker.whole_jobs.test_rescaling import assert_same_parameters

DOOMED: Final = str(Path(__file__).parents[1] / "scripts" / "doomed_coordinator.py")
MakeJob = Callable[..., RunningJob]


class Takeovers:
    """A job whose coordinator dies again and again, each time at another moment."""

    def __init__(self, job: RunningJob) -> None:
        self.job = job

    def doom(self, when: str, kind: str, count: int) -> None:
        """The coordinator is replaced by one that will die at this moment."""
        self.job.kill_coordinator()
        self._start(DOOMED, when, kind, str(count))

    def bury(self) -> None:
        """It has died by itself; training goes on without it; the next one takes over."""
        self.job.wait("the coordinator dies", lambda: self.job.coordinator_code is not None)
        self._start()

    def _start(self, *arguments: str) -> None:
        """One that will die reports before."""
        before = self._started_at
        self.job.start_coordinator(*arguments)
        self.job.wait("the new coordinator reports", lambda: self._started_at != before)

    @property
    def _started_at(self) -> float:
        newest = self.job.service.newest
        return newest["coordinator_started_at"] if newest else 0.0


def test_a_coordinator_that_was_replaced_ends_and_its_workers_go_on_with_the_next(
    make_job: MakeJob,
) -> None:
    job = make_job()
    job.begin_attempt(2)
    first = job.wait_for_workers(2)
    job.service.term = 1
    job.wait("the old one ends", lambda: job.coordinator_code == ExitCode.REPLACED)
    kept = StateFile(job.folder / "coordinator", term=1)
    assert kept.load().active == StateFile(job.folder / "coordinator").load().active
    job.start_coordinator()
    job.resize(1)  # heard from the next one
    job.wait_for_workers(1)
    job.end()
    assert kept.load().next_generation > first["number"] + 1
    assert StateFile(job.folder / "coordinator").load().next_generation == first["number"] + 1
    job.assert_every_sample_once(epochs=job.result(job.members[0])["epochs"])


def test_a_coordinator_killed_in_any_phase_is_replaced_and_nothing_is_lost(
    make_job: MakeJob, undisturbed: Callable[..., dict[str, Any]]
) -> None:
    job = make_job()
    takeovers = Takeovers(job)
    job.begin_attempt(2)
    job.wait_for_workers(2)

    takeovers.doom("after", "DesiredArrived", 2)  # idle
    job.wait_for_steps(4)
    takeovers.bury()

    for when, kind, count, size in (
        ("after", "WorkerConnected", 3, 3),  # the joiner has come, and is not ready
        ("before", "SendPlan", 1, 4),  # a plan is stored that nobody knows
        ("before", "SendPlan", 2, 3),  # one member knows it, the others do not
        ("after", "StoreOpened", 1, 4),  # a group is being built
        ("after", "WorkerSwitched", 1, 3),  # one member has switched
    ):
        takeovers.doom(when, kind, count)
        job.resize(size)
        takeovers.bury()
        job.wait_for_workers(size)
        job.wait_for_steps(2)

    takeovers.doom("before", "SendPlan", 1)  # recovering
    job.kill(job.members[-1])
    takeovers.bury()
    job.resize(2)
    job.wait_for_workers(2)
    job.wait_for_steps(4)
    job.end()
    result = job.result(job.members[0])
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)


@pytest.mark.parametrize("moment", [("before", "SendPlan"), ("before", "Release")], ids=str)
def test_a_coordinator_killed_while_its_job_is_paused_is_replaced_and_the_job_resumes(
    make_job: MakeJob, undisturbed: Callable[..., dict[str, Any]], moment: tuple[str, str]
) -> None:
    job = make_job()
    takeovers = Takeovers(job)
    job.begin_attempt(2)
    job.wait_for_workers(2)
    takeovers.doom(*moment, 2)
    job.wait_for_steps(4)
    job.service.want_stop()
    takeovers.bury()
    job.wait_until_finished()
    steps_before = job.step
    job.begin_attempt(1)
    job.start_coordinator()  # that hears of a stop once more ends again
    assert job.wait_for_workers(1)["step"] == steps_before
    job.end()
    result = job.result(job.members[0])
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)


def test_a_job_that_ends_while_there_is_no_coordinator_still_tells_its_last_step(
    make_job: MakeJob,
) -> None:
    job = make_job()
    job.begin_attempt(2)
    job.wait_for_workers(2)
    job.kill_coordinator()
    (job.folder / "stop").touch()
    job.wait("both are through", lambda: len(list((job.folder / "out").glob("*.json"))) == 2)
    job.start_coordinator()
    job.wait_until_finished()
    assert set(job.exit_codes().values()) == {0}
    assert job.service.metrics[-1]["step"] == job.step
    assert job.service.metrics[-1]["values"]["final"] == 1.0
    newest = job.service.newest
    assert newest is not None
    assert newest["finished"]


def test_a_coordinator_that_dies_when_its_workers_have_gone_left_its_last_word_in_its_memory(
    make_job: MakeJob,
) -> None:
    job = make_job()
    job.begin_attempt(1)
    job.wait_for_workers(1)
    job.service.is_down = True
    (job.folder / "stop").touch()
    job.wait("the worker has ended", lambda: None not in job.exit_codes().values())
    kept = StateFile(job.folder / "coordinator")
    job.wait("the coordinator knows of the end", lambda: kept.load().is_finished)
    job.kill_coordinator()
    job.service.is_down = False
    job.start_coordinator()
    job.wait_until_finished()
    assert job.service.metrics[-1]["step"] == job.step
    assert job.service.metrics[-1]["values"]["final"] == 1.0


def test_steps_that_nobody_told_count_as_lost_when_all_who_knew_of_them_die(
    make_job: MakeJob,
) -> None:
    """The worker goes on without a coordinator, and is killed before there is another."""
    job = make_job(checkpoint_seconds=600.0)
    job.begin_attempt(1)
    job.wait_for_workers(1)
    job.wait_for_steps(4)
    job.kill_coordinator()
    job.wait_for_steps(20)
    job.kill("w1")
    job.wait("w1 is gone", lambda: None not in job.exit_codes().values())
    made = max(line["step"] for line in job.audit_lines())
    job.start_coordinator()
    job.begin_attempt(1)
    generation = job.wait_for_workers(1)
    assert generation["step"] == 0
    assert generation["lost_steps"] in {made - 1, made}  # the last may not have been noted
    job.end()
