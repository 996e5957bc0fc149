"""Who trains on when workers die, disconnect or come back too late?"""

from __future__ import annotations

from concertina_worker.coordinator import events as on
from concertina_worker.protocol import GenerationCause, MemberPhase
from tests.worker.coordinator_story import Story, hello


def test_survivors_go_on_by_themselves_and_the_report_says_who_was_lost(story: Story) -> None:
    story.train("a", "b", "c").lose("b")
    assert story.plan.is_recovery
    assert story.plan.members == ("a", "c")
    story.switch("a", "c", step=5).tell(
        on.WorkerSettled(worker="a", generation=2, stall_seconds=0.1, transfer_seconds=0.0),
        on.WorkerSettled(worker="c", generation=2, stall_seconds=0.3, transfer_seconds=0.0),
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


def test_a_lost_worker_that_comes_back_is_sent_away(story: Story) -> None:
    story.train("a", "b").lose("b").connect("b")
    assert story.released == {"b"}


def test_a_member_whose_connection_broke_may_come_back_in_a_moment(story: Story) -> None:
    story.train("a", "b").disconnect("b")
    running = story.plan
    back = hello("b", phase=MemberPhase.TRAINING, plan=running)
    story.pass_time(0.75, "a").tell(back)
    assert story.released == set()
    story.pass_time(3.0, "a", "b")
    assert story.plan == running
    assert story.coordination.memory.lost == []


def test_a_missing_member_is_lost_as_soon_as_others_feel_it(story: Story) -> None:
    story.train("a", "b").disconnect("b").tell(on.CollectiveFailed(worker="a", generation=1))
    assert story.plan.is_recovery
    assert story.plan.members == ("a",)


def test_a_member_that_goes_after_others_felt_a_loss_is_not_waited_for(story: Story) -> None:
    story.train("a", "b").tell(on.CollectiveFailed(worker="a", generation=1)).disconnect("b")
    assert story.plan.is_recovery
    assert story.plan.members == ("a",)


def test_leavers_wait_for_a_member_that_is_only_missing(story: Story) -> None:
    story.train("a", "b", "c").want("a", "b").disconnect("b").switch("a", "c")
    assert "c" not in story.released
    story.lose("b")
    assert "c" in story.released


def test_a_waiting_worker_that_comes_back_may_still_join(story: Story) -> None:
    story.train("a").want("a", "b").connect("b").lose("b").connect("b").ready("b")
    assert story.plan.members == ("a", "b")


def test_a_worker_of_an_older_attempt_is_sent_away(story: Story) -> None:
    story.desired["attempt"] = 2
    story.want("b").connect("a", attempt=1)
    assert story.released == {"a"}
