"""Events in, instructions out: who trains together, told without sockets."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.events import Event
from concertina_worker.coordinator.instructions import Instruction, Release, SendPlan, SendStore
from concertina_worker.coordinator.machine import Coordination
from concertina_worker.coordinator.memory import Memory
from concertina_worker.plan import Plan
from concertina_worker.protocol import (
    Desired,
    DesiredAction,
    GenerationCause,
    GenerationReport,
    MetricReport,
    WorkerPhase,
)


@dataclass(slots=True)
class Story:
    """Tells a coordinator what happens, and remembers what it answered."""

    coordination: Coordination = field(default_factory=lambda: Coordination(Memory(), now=0.0))
    now: float = 0.0
    desired: Desired = field(
        default_factory=lambda: {
            "action": DesiredAction.RUN,
            "revision": 0,
            "attempt": 1,
            "workers": [],
            "global_batch_size": 32,
            "next_generation": 1,
        }
    )
    answers: list[Instruction] = field(default_factory=list)

    def tell(self, *events: Event) -> Story:
        self.answers = []
        for event in events:
            self.answers += self.coordination.handle(event, now=self.now)
        return self

    def want(self, *workers: str, batch: int = 32) -> Story:
        self.desired = {
            **self.desired,
            "revision": self.desired["revision"] + 1,
            "workers": list(workers),
            "global_batch_size": batch,
        }
        return self.tell(on.DesiredArrived(desired=self.desired))

    def want_stop(self) -> Story:
        self.desired = {**self.desired, "action": DesiredAction.STOP}
        return self.tell(on.DesiredArrived(desired=self.desired))

    def connect(self, *workers: str, attempt: int = 1) -> Story:
        return self.tell(*(hello(worker, attempt=attempt) for worker in workers))

    def ready(self, *workers: str) -> Story:
        return self.tell(*(on.WorkerReady(worker=worker, model_bytes=8) for worker in workers))

    def switch(self, *workers: str, step: int = 0) -> Story:
        generation = self.plan.generation
        return self.tell(
            *(on.WorkerSwitched(worker=w, generation=generation, step=step) for w in workers)
        )

    def lose(self, *workers: str) -> Story:
        return self.tell(*(on.WorkerDisconnected(worker=worker) for worker in workers))

    def train(self, *workers: str) -> Story:
        """From nothing to a generation of these workers."""
        self.want(*workers).connect(*workers).ready(*workers)
        return self.switch(*workers)

    def take_over(self) -> Story:
        """A new process with the old one's memory."""
        memory = Memory.from_json(self.coordination.memory.to_json())
        memory.desired = None
        self.coordination = Coordination(memory, now=self.now)
        return self

    @property
    def plan(self) -> Plan:
        """The newest plan ever published."""
        memory = self.coordination.memory
        plan = memory.pending or memory.active
        assert plan is not None
        return plan

    @property
    def planned(self) -> set[str]:
        """Who was sent the newest plan in the last answer."""
        return {
            answer.worker
            for answer in self.answers
            if isinstance(answer, SendPlan) and answer.plan == self.plan
        }

    @property
    def released(self) -> set[str]:
        return {answer.worker for answer in self.answers if isinstance(answer, Release)}

    @property
    def generations(self) -> list[GenerationReport]:
        return self.coordination.sync_report()["generations"]


def hello(
    worker: str,
    *,
    attempt: int = 1,
    phase: WorkerPhase = WorkerPhase.CONNECTED,
    plan: Plan | None = None,
    failed_in: int = 0,
) -> on.WorkerConnected:
    return on.WorkerConnected(
        worker=worker, attempt=attempt, phase=phase, plan=plan, failed_in=failed_in, model_bytes=8
    )


@pytest.fixture
def story() -> Story:
    return Story()


def test_the_first_generation_waits_for_every_desired_worker(story: Story) -> None:
    story.want("a", "b").connect("a", "b").ready("a")
    assert not story.answers
    story.ready("b")
    assert story.planned == {"a", "b"}
    assert story.plan.members == ("a", "b")
    assert story.plan.is_recovery
    assert story.plan.generation == 1


def test_generations_are_numbered_from_where_the_service_says(story: Story) -> None:
    story.desired["next_generation"] = 7
    story.train("a")
    assert story.plan.generation == 7


def test_a_grow_waits_for_the_joiner_and_hands_it_the_state_of_a_stayer(story: Story) -> None:
    story.train("a").want("a", "b").connect("b")
    assert not story.planned
    story.ready("b")
    assert story.planned == {"a", "b"}
    assert story.plan.joiners == ("b",)
    assert story.plan.source == "a"
    assert not story.plan.is_recovery


def test_a_larger_batch_waits_for_the_joiners_it_is_meant_for(story: Story) -> None:
    story.train("a").want("a", "b", batch=64).connect("b")
    assert not story.answers
    story.ready("b")
    assert (story.plan.members, story.plan.global_batch_size) == (("a", "b"), 64)


def test_a_smaller_batch_does_not_wait(story: Story) -> None:
    story.train("a", "b").want("a", "c", batch=16).connect("c")
    assert (story.plan.members, story.plan.global_batch_size) == (("a",), 16)


def test_a_shrink_goes_ahead_of_a_grow(story: Story) -> None:
    story.train("a", "b").want("a", "c").connect("c")
    assert story.plan.members == ("a",)
    story.switch("a", "b").ready("c")
    assert story.plan.members == ("a", "c")


def test_when_all_are_replaced_they_train_together_first(story: Story) -> None:
    story.train("a").want("b").connect("b").ready("b")
    assert story.plan.members == ("a", "b")
    story.switch("a", "b")
    assert story.plan.members == ("b",)


def test_a_leaver_is_released_when_all_have_switched(story: Story) -> None:
    story.train("a", "b", "c").want("a", "b")
    story.switch("c")
    assert story.released == set()
    story.switch("a")
    assert story.released == set()
    story.switch("b")
    assert story.released == {"c"}
    story.lose("c")
    assert "c" not in story.coordination.memory.lost


def test_a_new_batch_alone_is_a_generation_of_the_same_members(story: Story) -> None:
    story.train("a", "b").want("a", "b", batch=64)
    assert story.plan.members == ("a", "b")
    assert story.plan.joiners == ()
    assert story.plan.global_batch_size == 64


def test_nothing_new_desired_is_no_reason_for_a_plan(story: Story) -> None:
    story.train("a").tell(on.DesiredArrived(desired=story.desired), on.TimePassed())
    assert not story.answers


def test_survivors_go_on_by_themselves_and_the_report_says_who_was_lost(story: Story) -> None:
    story.train("a", "b", "c").lose("b")
    assert story.plan.is_recovery
    assert story.plan.members == ("a", "c")
    story.switch("a", "c", step=5).tell(
        on.WorkerSettled(worker="a", generation=2, stall_seconds=0.1),
        on.WorkerSettled(worker="c", generation=2, stall_seconds=0.3),
    )
    report = story.generations[-1]
    assert report["cause"] == GenerationCause.WORKER_LOST
    assert report["lost_workers"] == ["b"]
    assert report["stall_seconds"] == 0.3
    assert report["step"] == 5
    assert report["revision"] == 1


def test_a_desired_state_that_matches_the_survivors_is_fulfilled_by_a_new_generation(
    story: Story,
) -> None:
    story.train("a", "b").lose("b").switch("a").want("a")
    assert story.plan.members == ("a",)
    assert story.plan.revision == 2


def test_a_broken_collective_without_a_death_makes_everybody_start_over(story: Story) -> None:
    story.train("a", "b").tell(on.CollectiveFailed(worker="a", generation=1))
    assert story.plan.is_recovery
    assert story.plan.members == ("a", "b")
    story.switch("a", "b")
    assert not story.answers


def test_a_joiner_that_dies_before_the_switch_is_planned_away(story: Story) -> None:
    story.train("a").want("a", "b").connect("b").ready("b").lose("b")
    assert story.plan.members == ("a",)
    assert not story.plan.is_recovery
    story.switch("a")
    assert story.coordination.memory.pending is None


def test_a_joiner_that_dies_while_members_switch_needs_a_recovery(story: Story) -> None:
    story.train("a").want("a", "b").connect("b").ready("b")
    planned = story.plan
    story.lose("b")  # the coordinator takes the plan back, but it is too late:
    story.tell(on.WorkerSwitched(worker="a", generation=planned.generation, step=3))
    assert story.plan.is_recovery
    assert story.plan.members == ("a",)


def test_a_member_that_dies_during_a_grow_takes_the_joiner_into_the_recovery(story: Story) -> None:
    story.train("a", "b").want("a", "b", "c").connect("c").ready("c").lose("b")
    assert story.plan.is_recovery
    assert story.plan.members == ("a", "c")


def test_a_second_loss_supersedes_an_unfinished_recovery(story: Story) -> None:
    story.train("a", "b", "c").lose("b").lose("c")
    assert story.plan.generation == 3
    assert story.plan.members == ("a",)


def test_when_all_are_lost_the_next_attempt_begins_afresh(story: Story) -> None:
    story.train("a").lose("a")
    story.desired["attempt"] = 2
    story.want("b").connect("b", attempt=2).ready("b")
    assert story.plan.members == ("b",)
    assert story.plan.is_recovery
    assert story.plan.generation == 2


def test_a_group_that_could_not_be_built_is_tried_again_under_a_new_number(story: Story) -> None:
    story.train("a").want("a", "b").connect("b").ready("b")
    story.tell(on.BuildFailed(worker="b", generation=2))
    assert story.plan.generation == 3
    assert story.plan.members == ("a", "b")


def test_the_address_of_a_store_goes_to_the_other_members(story: Story) -> None:
    story.want("a", "b").connect("a", "b").ready("a", "b")
    story.tell(on.StoreOpened(worker="a", generation=1, address="host:1"))
    assert story.answers == [SendStore(worker="b", generation=1, address="host:1")]


def test_a_stop_lets_the_members_leave_together_and_ends_the_coordinator(story: Story) -> None:
    story.train("a", "b").want_stop()
    assert story.plan.members == ()
    story.switch("a")
    assert story.released == set()
    story.switch("b")
    assert story.released == {"a", "b"}
    assert not story.coordination.is_over
    story.lose("a", "b")
    assert story.coordination.is_over
    assert not story.coordination.memory.lost


def test_who_begins_after_a_pause_has_lost_nobody(story: Story) -> None:
    story.train("a").want_stop().switch("a").lose("a").take_over()
    story.desired["action"] = DesiredAction.RUN
    story.want("b").connect("b").ready("b").switch("b")
    story.tell(on.WorkerSettled(worker="b", generation=3, stall_seconds=0.0))
    assert story.generations[-1]["workers"] == ["b"]
    assert story.generations[-1]["cause"] == GenerationCause.DESIRED


def test_a_stop_releases_workers_that_do_not_train_yet(story: Story) -> None:
    story.want("a", "b").connect("a", "b").ready("a").want_stop()
    assert story.released == {"a", "b"}


def test_members_that_are_asked_to_end_are_planned_away(story: Story) -> None:
    story.train("a", "b").tell(on.WorkerLeaving(worker="a"))
    assert story.plan.members == ("b",)
    story.switch("a", "b")
    assert story.released == {"a"}
    story.tell(on.WorkerLeaving(worker="b"))
    assert story.plan.members == ()


def test_a_job_is_finished_when_all_members_are(story: Story) -> None:
    story.train("a", "b").tell(on.WorkerFinished(worker="a"))
    assert not story.coordination.sync_report()["finished"]
    story.tell(on.WorkerFinished(worker="b")).lose("a", "b")
    assert story.coordination.sync_report()["finished"]
    assert story.coordination.is_over


def test_a_joiner_that_comes_too_late_is_released(story: Story) -> None:
    story.train("a").want("a", "b").connect("b").tell(on.WorkerFinished(worker="a"))
    assert story.released == {"b"}


def test_joiners_whose_plan_came_to_nothing_are_released_when_the_job_finishes(
    story: Story,
) -> None:
    story.train("a").want("a", "b").connect("b").ready("b")
    assert story.plan.members == ("a", "b")  # and then no group of these two comes about
    story.tell(on.WorkerFinished(worker="a"))
    assert story.released == {"b"}
    story.lose("a", "b")
    assert story.coordination.is_over


def test_a_laggard_goes_on_alone_when_the_others_have_finished(story: Story) -> None:
    story.train("a", "b").tell(on.WorkerFinished(worker="a"))
    story.tell(on.CollectiveFailed(worker="b", generation=1))
    assert story.plan.members == ("b",)


def test_a_lost_worker_that_comes_back_is_sent_away(story: Story) -> None:
    story.train("a", "b").lose("b").connect("b")
    assert story.released == {"b"}


def test_a_waiting_worker_that_comes_back_may_still_join(story: Story) -> None:
    story.train("a").want("a", "b").connect("b").lose("b").connect("b").ready("b")
    assert story.plan.members == ("a", "b")


def test_a_worker_of_an_older_attempt_is_sent_away(story: Story) -> None:
    story.desired["attempt"] = 2
    story.want("b").connect("a", attempt=1)
    assert story.released == {"a"}


def test_after_a_takeover_members_that_come_back_train_on(story: Story) -> None:
    story.train("a", "b")
    plan = story.plan
    story.take_over()
    story.tell(
        hello("a", phase=WorkerPhase.TRAINING, plan=plan),
        hello("b", phase=WorkerPhase.TRAINING, plan=plan),
        on.DesiredArrived(desired=story.desired),
    )
    story.now = 60.0
    story.tell(on.TimePassed())
    assert not story.answers
    assert not story.coordination.memory.lost


def test_after_a_takeover_a_member_that_stays_away_is_lost(story: Story) -> None:
    story.train("a", "b")
    plan = story.plan
    story.take_over().tell(hello("a", phase=WorkerPhase.TRAINING, plan=plan, failed_in=1))
    assert not story.answers  # "b" may still come
    story.now = 60.0
    story.tell(on.TimePassed())
    assert story.plan.is_recovery
    assert story.plan.members == ("a",)


def test_after_a_takeover_workers_tell_which_plan_they_have_switched_to(story: Story) -> None:
    story.train("a").want("a", "b").connect("b").ready("b")
    plan = story.plan
    story.take_over()
    story.tell(
        hello("a", phase=WorkerPhase.TRAINING, plan=plan),
        hello("b", phase=WorkerPhase.TRAINING, plan=plan),
    )
    assert story.coordination.memory.active == plan
    assert story.coordination.memory.pending is None


def test_a_coordinator_without_memory_learns_from_its_workers(story: Story) -> None:
    plan = Plan(
        generation=9,
        members=("a",),
        joiners=(),
        is_recovery=True,
        global_batch_size=32,
        revision=4,
        timeout_seconds=30.0,
    )
    story.tell(hello("a", phase=WorkerPhase.TRAINING, plan=plan))
    story.desired.update(revision=4, next_generation=10)
    story.want("a", "b").connect("b").ready("b")
    assert story.plan.generation == 10
    assert story.plan.source == "a"


def test_metrics_are_thinned_but_keep_their_ends(story: Story) -> None:
    story.train("a")
    for second in range(5000):
        metric: MetricReport = {
            "at": float(second),
            "generation": 1,
            "step": second,
            "epoch": 0.0,
            "samples": second,
            "samples_per_second": 1.0,
            "step_seconds": 1.0,
            "compute_seconds": 1.0,
            "communication_seconds": 0.0,
            "local_batch_size": 1,
            "learning_rate": 0.1,
            "values": {},
        }
        story.tell(on.ProgressMade(worker="a", metric=metric, measurement=None))
    metrics = story.coordination.sync_report()["metrics"]
    assert len(metrics) <= 1000
    assert metrics[-1]["at"] == 4999.0
    assert metrics[0]["at"] < 50.0


def test_what_was_acknowledged_is_not_sent_again(story: Story) -> None:
    story.train("a").want("a", batch=64).switch("a")
    report = story.coordination.sync_report()
    assert [g["number"] for g in report["generations"]] == [1]
    story.coordination.memory.reports.acknowledge(report["generations"], report["metrics"])
    assert story.generations == []
