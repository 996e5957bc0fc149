"""Do simulated workers do what real ones would, as their coordinator sees it?"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

import pytest
from cluster.simulated_host.simulator.behaviour import Behaviour
from cluster.simulated_host.simulator.job import ROUND_SECONDS, SimulatedJob

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.coordinator.machine import Coordination
from concertina_worker.protocol import Desired, SyncReport

QUICK = Behaviour(samples=100_000, sample_seconds=0.001, checkpoint_seconds=5.0)
BATCH = 100


class Stage:
    """A job with a real coordinator, and a clock that a test turns."""

    def __init__(self, behaviour: Behaviour = QUICK) -> None:
        self.seconds = 0.0
        self.exits: dict[str, int] = {}
        self._revision = 0
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._count = count()
        self.coordination = Coordination(Memory(), now=0.0)
        self.job = SimulatedJob(behaviour, self)
        self._pass_round()

    def now(self) -> float:
        return self.seconds

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._agenda, (self.seconds + seconds, next(self._count), what))

    def end(self, process_id: str, exit_code: int) -> None:
        self.exits[process_id] = exit_code
        self.job.has_ended(process_id)

    def write(self, process_id: str, text: str) -> None:
        """Nobody reads it."""

    def tell(self, event: on.Event) -> None:
        for instruction in self.coordination.handle(event, now=self.seconds):
            self.job.hear(instruction)

    def start(self, *workers: str) -> None:
        for worker in workers:
            self.job.start(worker, attempt=1)

    def want(self, *workers: str, action: str = "run") -> None:
        self._revision += 1
        desired = Desired(
            action=action,
            revision=self._revision,
            attempt=1,
            workers=list(workers),
            global_batch_size=BATCH,
            next_generation=1,
        )
        self.tell(on.DesiredArrived(desired=desired))

    def take_over(self) -> None:
        """Another coordinator takes the place of this one."""
        self.coordination = Coordination(self.coordination.memory, now=self.seconds, term=1)
        self.job.meet_coordinator()

    def run(self, seconds: float) -> SyncReport:
        until = self.seconds + seconds
        while self._agenda and self._agenda[0][0] <= until:
            self.seconds, _, what = heapq.heappop(self._agenda)
            what()
        self.seconds = until
        return self.coordination.sync_report()

    def _pass_round(self) -> None:
        self.later(ROUND_SECONDS, self._pass_round)
        self.job.pass_round()


@pytest.fixture
def stage() -> Stage:
    """Two workers train."""
    stage = Stage()
    stage.start("a", "b")
    stage.want("a", "b")
    stage.run(15)
    return stage


def members(report: SyncReport) -> list[str]:
    return report["generations"][-1]["workers"]


def test_workers_come_up_and_train(stage: Stage) -> None:
    report = stage.run(5)
    assert report["registered"]
    assert members(report) == ["a", "b"]
    assert {worker["phase"] for worker in report["workers"]} == {"training"}
    first, *_, last = report["metrics"]
    assert last["samples"] > first["samples"] > 0
    assert last["values"]["loss"] < first["values"]["loss"]


def test_a_measurement_is_what_the_behaviour_says(stage: Stage) -> None:
    (measured,) = stage.run(1)["measurements"]
    expected = QUICK.step_seconds(workers=2, batch=BATCH)
    assert (measured["workers"], measured["step_seconds"]) == (2, expected)


def test_a_job_grows_and_shrinks_without_losing_steps(stage: Stage) -> None:
    before = stage.run(1)["metrics"][-1]["step"]
    stage.start("c")
    stage.want("a", "b", "c")
    assert members(stage.run(15)) == ["a", "b", "c"]
    stage.want("a")
    report = stage.run(10)
    assert members(report) == ["a"]
    assert stage.exits == {"b": 83, "c": 83}
    assert report["metrics"][-1]["step"] > before


def test_a_lost_worker_stops_the_others_only_until_they_form_a_group(stage: Stage) -> None:
    stage.end("b", -9)
    report = stage.run(5)
    assert members(report) == ["a"]
    assert report["generations"][-1]["lost_workers"] == ["b"]
    assert report["metrics"][-1]["generation"] == report["generations"][-1]["number"]


def test_a_job_that_lost_all_goes_on_from_its_checkpoint(stage: Stage) -> None:
    report = stage.run(7)
    kept, reached = report["checkpoint_step"], report["metrics"][-1]["step"]
    assert kept is not None
    assert kept < reached
    stage.end("a", -9)
    stage.end("b", -9)
    stage.run(2)
    stage.start("c")
    stage.want("c")
    assert stage.run(15)["generations"][-1]["step"] == kept


def test_a_job_is_stopped_with_a_checkpoint(stage: Stage) -> None:
    stage.want(action="stop")
    report = stage.run(5)
    assert stage.exits == {"a": 83, "b": 83}
    assert stage.coordination.is_over
    assert report["checkpoint_step"] == report["metrics"][-1]["step"]


def test_a_job_comes_to_its_end() -> None:
    stage = Stage()
    stage.start("a")
    stage.want("a")
    report = stage.run(QUICK.samples * QUICK.sample_seconds + 20)
    assert report["finished"]
    assert report["metrics"][-1]["samples"] == QUICK.samples
    assert stage.exits == {"a": 0}


def test_the_next_coordinator_finds_everybody_training(stage: Stage) -> None:
    generation = stage.run(1)["generation"]
    stage.take_over()
    report = stage.run(10)
    assert report["generation"] == generation
    assert {worker["phase"] for worker in report["workers"]} == {"training"}


def test_workers_that_are_made_to_fail_do(stage: Stage) -> None:
    fragile = Stage(Behaviour(fails_after_seconds=1.0))
    fragile.start("a")
    fragile.want("a")
    fragile.run(60)
    assert fragile.exits == {"a": 1}
