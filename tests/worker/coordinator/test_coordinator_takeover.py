"""What does a new coordinator know that takes over from a dead one?"""

from __future__ import annotations

from pathlib import Path

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.machine import Coordination
from concertina_worker.coordinator.state_file import StateFile
from concertina_worker.plan import GenerationPlan
from concertina_worker.protocol import DesiredAction, MemberPhase
from tests.worker.coordinator_story import Story, hello


def test_after_a_takeover_members_that_come_back_train_on(story: Story) -> None:
    story.train("a", "b")
    plan = story.plan
    story.take_over()
    story.tell(
        hello("a", phase=MemberPhase.TRAINING, plan=plan),
        hello("b", phase=MemberPhase.TRAINING, plan=plan),
        on.DesiredArrived(desired=story.desired),
    )
    story.now = 60.0
    story.tell(on.TimePassed())
    assert not story.answers
    assert not story.coordination.memory.lost


def test_after_a_takeover_a_member_that_stays_away_is_lost(story: Story) -> None:
    story.train("a", "b")
    plan = story.plan
    story.take_over().tell(hello("a", phase=MemberPhase.TRAINING, plan=plan, failed_in=1))
    assert not story.answers  # "b" may still come
    story.now = 60.0
    story.tell(on.TimePassed())
    assert story.plan.is_recovery
    assert story.plan.members == ("a",)


def test_after_a_takeover_a_job_that_is_to_stop_is_not_over_before_its_members_are(
    story: Story,
) -> None:
    story.train("a", "b").want_stop()
    story.take_over().tell(on.DesiredArrived(desired=story.desired))
    assert not story.coordination.is_over  # they are on their way back
    story.now = 60.0
    story.tell(on.TimePassed())
    assert story.coordination.is_over  # nobody came


def test_after_a_takeover_a_joiner_stays_until_the_service_was_asked_anew(story: Story) -> None:
    story.train("a").want("a", "b").connect("b")
    plan = story.plan
    story.take_over()
    story.tell(hello("b"), hello("a", phase=MemberPhase.TRAINING, plan=plan))
    assert not story.released
    story.tell(on.DesiredArrived(desired=story.desired)).ready("b")
    assert story.planned == {"a", "b"}


def test_after_a_takeover_workers_tell_which_plan_they_have_switched_to(story: Story) -> None:
    story.train("a").want("a", "b").connect("b").ready("b")
    plan = story.plan
    story.take_over()
    story.tell(
        hello("a", phase=MemberPhase.TRAINING, plan=plan),
        hello("b", phase=MemberPhase.TRAINING, plan=plan),
    )
    assert story.coordination.memory.active == plan
    assert story.coordination.memory.pending is None


def test_a_coordinator_without_memory_learns_from_its_workers(story: Story) -> None:
    plan = GenerationPlan(
        generation=9,
        members=("a",),
        joiners=(),
        is_recovery=True,
        global_batch_size=32,
        revision=4,
        timeout_seconds=30.0,
    )
    story.tell(hello("a", phase=MemberPhase.TRAINING, plan=plan))
    story.desired.update(revision=4, next_generation=10)
    story.want("a", "b").connect("b").ready("b")
    assert story.plan.generation == 10
    assert story.plan.source == "a"


def test_a_worker_of_a_later_start_waits_until_the_service_tells_of_it(story: Story) -> None:
    story.train("a").want_stop()
    story.want().switch("a", step=7)
    story.take_over().tell(on.DesiredArrived(desired=story.desired))
    story.connect("b", attempt=2)
    assert not story.released
    assert not story.coordination.is_over
    story.desired = {**story.desired, "action": DesiredAction.RUN, "attempt": 2}
    story.want("b").ready("b")
    assert story.plan.members == ("b",)
    assert story.planned == {"b"}


def test_workers_of_another_start_train_though_those_before_them_had_finished(
    story: Story, tmp_path: Path
) -> None:
    """They were killed between their last step and their end, so the job starts anew."""
    finish(story, StateFile(tmp_path, start=1))
    story.coordination = Coordination(StateFile(tmp_path, term=1, start=2).load(), now=story.now)
    assert not story.coordination.is_over
    story.want("b").connect("b").ready("b")
    assert story.plan.members == ("b",)


def test_a_coordinator_that_dies_after_the_end_has_nothing_left_to_do(
    story: Story, tmp_path: Path
) -> None:
    finish(story, StateFile(tmp_path, start=1))
    again = Coordination(StateFile(tmp_path, term=1, start=1).load(), now=story.now)
    assert again.is_over


def finish(story: Story, state_file: StateFile) -> None:
    """Its worker trained to the end, and is gone."""
    story.coordination = Coordination(state_file.load(), now=story.now)
    story.train("a").tell(on.WorkerFinished(worker="a")).disconnect("a")
    state_file.save(story.coordination.memory)
