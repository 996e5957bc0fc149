"""Events in, instructions out: who trains together, told without sockets."""

from __future__ import annotations

from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.connections.messages import to_event
from concertina_worker.coordinator.instructions import SendPlan, SendStore
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.protocol import (
    LONGEST_WARNING,
    MOST_WARNINGS,
    DesiredAction,
    GenerationCause,
    GpuUse,
    MemberPhase,
)
from concertina_worker.wire import FromWorker
from tests.worker.coordinator_story import Story, hello, progress


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
    assert (story.plan.members, story.plan.global_batch_size) == (("a", "b"), 16)


def test_a_worker_that_is_replaced_stays_until_its_substitute_is_ready(story: Story) -> None:
    story.train("a", "b", "c").want("a", "c", "d").connect("d")
    assert story.plan.members == ("a", "b", "c")
    story.ready("d")
    assert (story.plan.members, story.plan.joiners) == (("a", "c", "d"), ("d",))


def test_nobody_is_missed_when_the_substitute_never_comes(story: Story) -> None:
    story.train("a", "b").want("a", "c").connect("c").lose("c")
    story.want("a", "b")
    assert story.plan.members == ("a", "b")
    assert story.released == set()


def test_a_shrink_goes_ahead_of_a_move(story: Story) -> None:
    story.train("a", "b", "c").want("a", "d").connect("d")
    assert story.plan.members == ("a", "b")
    story.switch("a", "b", "c").ready("d")
    assert story.plan.members == ("a", "d")


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


def test_a_stop_in_whose_last_step_a_member_dies_lets_everybody_go(story: Story) -> None:
    story.train("a", "b", "c").want_stop().switch("b").lose("c")
    assert story.released == set()
    story.tell(on.CollectiveFailed(worker="a", generation=story.plan.generation))
    assert story.released == {"a", "b"}
    story.lose("a", "b")
    assert story.coordination.is_over


def test_a_recovery_comes_to_nothing_when_one_has_left_for_a_stop(story: Story) -> None:
    story.train("a", "b", "c").want_stop()
    stop = story.plan
    story.lose("c")
    assert story.plan.members == ("a", "b")
    story.tell(on.WorkerSwitched(worker="a", generation=stop.generation, step=1))
    assert story.released == set()
    story.tell(on.CollectiveFailed(worker="b", generation=stop.generation - 1))
    assert story.released == {"a", "b"}
    story.lose("a", "b")
    assert story.coordination.is_over


def test_a_leaver_that_misses_its_last_step_goes_when_the_others_have_made_it(
    story: Story,
) -> None:
    story.train("a", "b", "c").want("a").switch("a").lose("c")
    assert story.released == set()
    story.tell(on.CollectiveFailed(worker="b", generation=story.plan.generation))
    assert story.released == {"b"}


def test_who_begins_after_a_pause_has_lost_nobody(story: Story) -> None:
    story.train("a").want_stop().switch("a").lose("a").take_over()
    story.desired["action"] = DesiredAction.RUN
    story.want("b").connect("b").ready("b").switch("b")
    story.tell(on.WorkerSettled(worker="b", generation=3, stall_seconds=0.0, transfer_seconds=0.0))
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


def test_metrics_are_thinned_but_keep_their_ends(story: Story) -> None:
    story.train("a")
    for second in range(5000):
        story.tell(progress("a", step=second))
    metrics = story.coordination.sync_report()["metrics"]
    assert len(metrics) <= 1000
    assert metrics[-1]["at"] == 4999.0
    assert metrics[0]["at"] < 50.0


def test_points_stand_as_far_apart_as_the_service_says_and_keep_what_was_logged(
    story: Story,
) -> None:
    story.train("a")
    story.desired = {**story.desired, "point_seconds": 10.0}
    story.tell(on.DesiredArrived(desired=story.desired))
    reports, told = story.coordination.memory.reports, []
    for second in range(1, 48):
        step = progress("a", step=second)
        step.metric["values"] = {"loss": float(second)} | ({"accuracy": 0.5} if second == 3 else {})
        story.tell(step)
        if second in {7, 25}:
            assert reports.metrics[-1]["step"] == second  # how far it is, it tells at once
            told += reports.metrics
            reports.acknowledge([], list(reports.metrics))
    told += reports.metrics
    assert [point["step"] for point in told] == [7, 17, 25, 35, 45, 47]
    assert told[0]["values"] == {"loss": 7.0, "accuracy": 0.5}
    assert told[1]["values"] == {"loss": 17.0}


def test_a_clock_that_was_set_back_makes_another_point(story: Story) -> None:
    story.train("a")
    reports = story.coordination.memory.reports
    for at in (100, 101, 50, 51):
        reports.add_metric(progress("a", step=at).metric, apart_seconds=10.0)
    assert [point["at"] for point in reports.metrics] == [100.0, 101.0, 51.0]


def test_what_was_acknowledged_is_not_sent_again(story: Story) -> None:
    story.train("a").want("a", batch=64).switch("a")
    report = story.coordination.sync_report()
    assert [g["number"] for g in report["generations"]] == [1]
    story.coordination.memory.reports.acknowledge(report["generations"], report["metrics"])
    assert story.generations == []


def test_metrics_of_a_main_worker_whose_clock_is_behind_are_sent_as_well(story: Story) -> None:
    story.train("a", "b").tell(progress("a", step=5))
    report = story.coordination.sync_report()
    behind = progress("b", step=6)
    behind.metric["at"] -= 60.0
    story.tell(behind)
    story.coordination.memory.reports.acknowledge(report["generations"], report["metrics"])
    assert story.coordination.sync_report()["metrics"] == [behind.metric]


def test_the_newest_reading_of_a_workers_gpus_stands_in_its_report(story: Story) -> None:
    story.train("a", "b")
    for use in (GpuUse(gpu_utilisation=0.9), GpuUse(gpu_utilisation=0.25, gpu_memory_bytes=7)):
        story.tell(on.GpuMeasured(worker="a", use=use))
    first, second = story.coordination.sync_report()["workers"]
    assert first == {
        "worker_id": "a",
        "phase": MemberPhase.TRAINING,
        "gpu_utilisation": 0.25,
        "gpu_memory_bytes": 7,
    }
    assert "gpu_utilisation" not in second


def test_of_a_gpu_reading_only_the_known_fields_are_passed_on() -> None:
    message = {"type": FromWorker.GPU, "use": {"gpu_utilisation": 0.5, "temperature": 60}}
    event = to_event("a", message)
    assert event == on.GpuMeasured(worker="a", use=GpuUse(gpu_utilisation=0.5))


def test_who_was_away_when_a_store_opened_is_told_its_address(story: Story) -> None:
    story.want("a", "b").connect("a", "b").ready("a", "b")
    plan = story.plan
    story.tell(on.StoreOpened(worker="a", generation=1, address="host:1"))
    story.tell(hello("b", phase=MemberPhase.READY))
    assert story.answers == [
        SendPlan(worker="b", plan=plan),
        SendStore(worker="b", generation=1, address="host:1"),
    ]


def test_a_warning_is_reported_once_whoever_says_it_and_by_the_next_coordinator(
    story: Story,
) -> None:
    story.train("a", "b")
    for worker in ("a", "b", "a"):
        message = {"type": FromWorker.WARNING, "text": "It sums."}
        story.tell(to_event(worker, message))
    for number in range(100):
        story.tell(on.WarningGiven(worker="a", text=f"{number} {'x' * 5000}"))
    said = story.coordination.sync_report()["warnings"]
    assert said[0] == "It sums."
    assert (len(said), max(map(len, said))) == (MOST_WARNINGS, LONGEST_WARNING)
    assert Memory.from_json(story.coordination.memory.to_json()).warnings == said


def test_who_holds_rows_of_a_sharded_model_meets_those_who_shall_also_to_leave(
    story: Story,
) -> None:
    """And is told where they meet. A loss moves no rows: some of them are gone."""
    story.train("a", "b").tell(on.WorkerReady(worker="a", model_bytes=1, is_sharded=True))
    story.want("a", "c").connect("c").tell(
        on.WorkerReady(worker="c", model_bytes=1, is_sharded=True)
    )
    assert story.plan.holders == ("a", "b")
    assert story.plan.participants == ("a", "c", "b")
    assert story.plan.stayers == ("a", "c")
    story.tell(on.StoreOpened(worker="a", generation=story.plan.generation, address="here:1"))
    assert {one.worker for one in story.answers if isinstance(one, SendStore)} == {"b", "c"}
    assert Memory.from_json(story.coordination.memory.to_json()).pending == story.plan
    story.lose("a")
    assert story.plan.is_recovery
    assert not story.plan.holders
