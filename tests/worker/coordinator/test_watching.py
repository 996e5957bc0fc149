"""Who is given up without having died, and who is not though it takes its time?"""

from __future__ import annotations

import pytest

from concertina_worker.coordinator import events as on
from concertina_worker.protocol import MemberPhase
from concertina_worker.wire import ScriptPlace
from tests.worker.coordinator_story import Story


def phases(story: Story) -> dict[str, str]:
    workers = story.coordination.sync_report()["workers"]
    return {worker["worker_id"]: worker["phase"] for worker in workers}


def test_a_member_that_stops_is_noticed_within_five_seconds_and_the_others_go_on(
    story: Story,
) -> None:
    story.train("a", "b", "c").beat("a", "b", "c")
    assert story.pass_time(4.0, "a", "b").given_up == set()
    assert story.pass_time(1.0, "a", "b").given_up == {"c"}
    assert story.plan.is_recovery
    assert story.plan.members == ("a", "b")
    assert phases(story)["c"] == MemberPhase.LOST


def test_where_nobody_is_heard_it_may_be_their_line_that_is_cut(story: Story) -> None:
    story.train("a", "b").beat("a", "b")
    assert story.pass_time(14.0).given_up == set()
    assert story.pass_time(1.5, "a").given_up == {"b"}


def test_one_alone_that_stops_is_given_up_in_the_end(story: Story) -> None:
    story.train("a").beat("a")
    assert story.pass_time(14.0).given_up == set()
    assert story.pass_time(1.5).given_up == {"a"}


def test_the_report_says_why_a_member_was_given_up(story: Story) -> None:
    story.train("a", "b").beat("a", "b").pass_time(5.0, "a")
    workers = story.coordination.sync_report()["workers"]
    errors = {worker["worker_id"]: worker.get("error") for worker in workers}
    assert errors == {"a": None, "b": "Given up: no heartbeat for 4.8 s"}


def test_long_steps_allow_longer_silence_up_to_a_bound(story: Story) -> None:
    story.train("a", "b").beat("a", "b")
    story.coordination.memory.step_seconds = 1.0
    assert story.pass_time(10.0, "a").given_up == set()
    assert story.pass_time(1.0, "a").given_up == {"b"}
    other = Story().train("a", "b").beat("a", "b")
    other.coordination.memory.step_seconds = 60.0
    assert other.pass_time(16.0, "a").given_up == {"b"}


def test_a_script_in_code_of_its_own_may_keep_the_heartbeat_back_for_longer(story: Story) -> None:
    story.train("a", "b").beat("a").beat("b", place=ScriptPlace.ELSEWHERE, seconds=3.0)
    assert story.pass_time(14.0, "a").given_up == set()
    assert story.pass_time(2.0, "a").given_up == {"b"}


def test_workers_are_not_blamed_when_the_coordinator_stood_still(story: Story) -> None:
    story.train("a", "b").beat("a", "b")
    story.now += 60.0
    assert story.pass_time(4.0).given_up == set()
    assert story.pass_time(4.0, "a", "b").given_up == set()


def test_a_member_that_hangs_in_a_step_others_wait_for_is_given_up(story: Story) -> None:
    story.train("a", "b").beat("a").beat("b", place=ScriptPlace.COMPUTING, seconds=19.0)
    story.pass_time(0.5)
    assert story.given_up == set()
    story.beat("b", place=ScriptPlace.COMPUTING, seconds=20.1).pass_time(0.25)
    assert story.given_up == {"b"}
    assert story.plan.members == ("a",)


@pytest.mark.parametrize(
    ("steps", "others"),
    [(2, ScriptPlace.WAITING), (9, ScriptPlace.COMPUTING)],
    ids=["first step", "all slow"],
)
def test_a_first_step_and_a_step_that_is_slow_for_all_may_take_long(
    story: Story, steps: int, others: ScriptPlace
) -> None:
    story.train("a", "b").beat("a", place=others, seconds=500.0)
    story.beat("b", place=ScriptPlace.COMPUTING, seconds=500.0, steps=steps).pass_time(0.25)
    assert story.given_up == set()


def test_evaluation_may_take_as_long_as_it_likes(story: Story) -> None:
    story.train("a", "b")
    for _ in range(100):
        story.beat("a", seconds=5000.0).beat("b", place=ScriptPlace.ELSEWHERE, seconds=5000.0)
        assert story.pass_time(1.0).given_up == set()
    assert not story.plan.generation > 1


def test_members_that_all_wait_for_each_other_form_a_new_group(story: Story) -> None:
    story.train("a", "b").beat("a", "b", seconds=19.0).pass_time(0.25)
    assert story.plan.generation == 1
    story.beat("a", "b", seconds=20.5).pass_time(0.25)
    assert story.plan.is_recovery
    assert story.plan.members == ("a", "b")
    story.switch("a", "b").beat("a", "b", seconds=0.1).pass_time(1.0)
    assert story.plan.generation == 2


def test_the_first_exchange_of_a_large_model_over_a_slow_network_may_take_long(
    story: Story,
) -> None:
    story.train("a", "b").beat("a", "b", seconds=600.0, steps=0).pass_time(0.25)
    assert story.plan.generation == 1
    story.beat("a", "b", seconds=1801.0, steps=0).pass_time(0.25)
    assert story.plan.generation == 2


def test_what_a_given_up_worker_still_tells_is_not_believed(story: Story) -> None:
    story.train("a", "b").beat("a", "b").pass_time(5.0, "a").switch("a")
    story.connect("b")
    assert story.released == {"b"}
    story.beat("b", place=ScriptPlace.COMPUTING).ready("b").switch("b")
    assert phases(story)["b"] == MemberPhase.LOST
    assert story.plan.members == ("a",)


def test_a_given_up_worker_that_wakes_is_not_given_up_again_while_it_lives(story: Story) -> None:
    story.train("a", "b").beat("a", "b").pass_time(5.0, "a").switch("a")
    story.connect("b")
    assert story.pass_time(20.0, "a", "b").given_up == set()
    assert story.pass_time(16.0, "a").given_up == {"b"}


def test_lines_of_a_worker_that_has_gone_are_still_read_without_harm(story: Story) -> None:
    story.train("a", "b").want("a").switch("a", "b", step=4)
    assert story.released == {"b"}
    story.beat("a").pass_time(16.0, "a")  # longer than anybody may be silent
    assert phases(story).keys() == {"a"}
    story.beat("b").tell(on.GoodbyeSaid(worker="b")).disconnect("b").pass_time(1.0, "a")
    assert phases(story).keys() == {"a"}


def test_a_new_coordinator_still_reports_who_was_given_up(story: Story) -> None:
    story.train("a", "b").beat("a", "b").pass_time(5.0, "a").switch("a").take_over()
    assert phases(story) == {"b": MemberPhase.LOST}


def test_a_plan_nobody_switches_to_is_published_anew(story: Story) -> None:
    story.train("a").want("a", "b").connect("b").ready("b")
    for steps in range(1, 100):
        story.beat("a", steps=steps).beat("b", place=ScriptPlace.ELSEWHERE).pass_time(1.0)
    assert story.plan.generation == 3
    assert story.plan.members == ("a", "b")


def test_a_plan_is_kept_while_its_members_evaluate(story: Story) -> None:
    story.train("a").want("a", "b").connect("b").ready("b")
    for _ in range(200):
        story.beat("a", "b", place=ScriptPlace.ELSEWHERE, steps=5).pass_time(1.0)
    assert story.plan.generation == 2
