"""Trials are weighed once, whatever happens meanwhile, and places that are free are filled."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from control_plane.queries.pool_capacities import read_pools
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient
from sweeps.models import Sweep, SweepMark
from sweeps.rounds import refilling, weighing
from tenancy.access.keys import tokens
from tenancy.models import Team, Token

from jobs.commands import control
from jobs.commands.removal import job_deletion
from jobs.lifecycle import JobState
from jobs.models import Event, Job, JobArray
from tests.service.conftest import spec
from tests.service.sweeps.conftest import (
    PATH,
    AddSweep,
    Killed,
    ends,
    go,
    settle,
    states,
    tells,
    trials,
    wanted,
)

STATEMENTS_WHERE_THERE_IS_NONE = 1
STATEMENTS_OF_A_QUIET_SWEEP = 12
STATEMENTS_OF_A_RUNG = 44


def test_a_few_trials_are_submitted_at_once_and_further_ones_as_places_get_free(
    add: AddSweep,
) -> None:
    sweep = add()
    assert states(sweep) == dict.fromkeys((1, 2, 3), "queued")
    go()
    assert len(trials(sweep)) == 3
    ends(trials(sweep)[2])
    go()
    assert states(sweep) == {1: "queued", 2: "completed", 3: "queued", 4: "queued"}
    assert {job.array_limit for job in trials(sweep).values()} == {3}
    assert trials(sweep)[4].name == "digits-4"
    assert trials(sweep)[4].submitted_by == "vision/ci"
    go()
    assert len(trials(sweep)) == 4


def test_at_a_rung_one_of_three_goes_on_and_the_others_wait_for_better_times(
    add: AddSweep,
) -> None:
    sweep = add()
    one, two, three = (trials(sweep)[number] for number in (1, 2, 3))
    tells(one, 1.0, loss=0.5)
    go()
    one.refresh_from_db()
    assert (one.state, one.ends_as, one.reason) == ("stopping", "paused", "paused_at_rung")
    assert "at its rung it is not among the best 1/3 that came so far" in one.message
    settle(one)
    tells(two, 1.0, loss=0.4)
    tells(three, 1.0, loss=0.3)
    go()
    assert {states(sweep)[number] for number in (1, 3)} == {"paused", "running"}
    assert states(sweep)[2] == "stopping"  # the best of three goes on without a stop
    assert SweepMark.objects.get(job=three).promoted_at is not None
    assert len(trials(sweep)) == 5  # the places of those who wait are filled


def test_who_waits_goes_on_once_it_is_among_the_best(add: AddSweep) -> None:
    sweep = add()
    for number, loss in ((1, 0.1), (2, 0.4)):
        tells(trials(sweep)[number], 1.0, loss=loss)
    go()
    first = trials(sweep)[1]
    assert first.state == "stopping"
    settle(*trials(sweep).values())
    tells(trials(sweep)[3], 1.0, loss=0.5)
    go()
    first.refresh_from_db()
    assert (first.state, first.reason) == ("queued", "pending_evaluation")
    assert first.message == "Resumed by sweep digits: at its rung it is among the best 1/3."


def test_who_cannot_go_on_any_more_is_stopped_and_is_no_failure(add: AddSweep) -> None:
    sweep = add(trials=3)
    for number, loss in ((1, 0.1), (2, 0.4), (3, 0.3)):
        tells(trials(sweep)[number], 1.0, loss=loss)
    go()
    settle(*trials(sweep).values())
    assert states(sweep) == {1: "running", 2: "cancelled", 3: "cancelled"}
    stopped = trials(sweep)[2]
    assert stopped.reason == "stopped_by_sweep"
    assert stopped.message.startswith("Stopped by sweep digits: at its rung it is not among")
    assert stopped.values == {"loss": 0.4}
    tells(trials(sweep)[1], 3.0, loss=0.05)
    go()
    assert states(sweep)[1] == "running"  # alone at a rung to which nobody comes any more
    ends(trials(sweep)[1])
    go()
    sweep.refresh_from_db()
    assert sweep.ended_at is not None
    assert not JobArray.objects.get(pk=sweep.pk).is_open


def test_a_value_that_is_no_number_stops_its_trial(add: AddSweep) -> None:
    sweep = add()
    tells(trials(sweep)[1], 1.0, loss=None)
    tells(trials(sweep)[2], 2.0)  # which has logged nothing yet
    go()
    assert trials(sweep)[1].ends_as == "cancelled"
    assert states(sweep)[2] == "running"


def test_the_first_value_at_a_rung_counts_whenever_we_look(add: AddSweep) -> None:
    sweep = add()
    for epoch, loss in ((0.9, 0.9), (1.2, 0.5), (1.9, 0.4), (3.0, 0.2), (3.5, 0.1)):
        tells(trials(sweep)[1], epoch, loss=loss)
    go()
    marks = SweepMark.objects.order_by("rung").values_list("rung", "resource", "value")
    assert list(marks) == [(0, 1.2, 0.5), (1, 3.0, 0.2)]


def test_what_a_person_paused_is_theirs(add: AddSweep) -> None:
    sweep = add(trials=3)
    one = trials(sweep)[1]
    tells(one, 1.0, loss=0.1)
    go()
    settle(one)
    control.cancel_all(job_ids=[trials(sweep)[2].id], actor="ada")
    control.resume(job_id=one.id, actor="ada")
    control.pause(job_id=one.id, actor="ada")
    tells(trials(sweep)[3], 1.0, loss=0.2)
    go()
    one.refresh_from_db()
    assert (one.state, one.reason) == ("paused", "paused_by_user")


def test_a_trial_that_failed_does_not_count(add: AddSweep) -> None:
    sweep = add(trials=2)
    one, two = trials(sweep)[1], trials(sweep)[2]
    tells(one, 1.0, loss=0.1)
    go()
    settle(one)
    ends(two, JobState.FAILED)
    go()
    assert states(sweep) == {1: "queued", 2: "failed"}


def test_who_is_resumed_by_a_person_at_the_same_moment_goes_on(
    add: AddSweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = add(trials=3)
    one = trials(sweep)[1]
    tells(one, 1.0, loss=0.1)
    go()
    settle(one)
    tells(trials(sweep)[2], 1.0, loss=0.2)
    tells(trials(sweep)[3], 1.0, loss=0.3)
    real = weighing.standings.read

    def read(*words: Any) -> Any:
        found = real(*words)
        control.resume(job_id=one.id, actor="ada")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(weighing.standings, "read", read)
        weigh_alone(sweep)
    assert (states(sweep)[1], trials(sweep)[1].message) == ("queued", "Resumed by ada.")
    assert SweepMark.objects.get(job=one).promoted_at is not None


def test_who_waited_beyond_a_limit_of_its_own_is_told_so(api: APIClient) -> None:
    document = {**wanted(trials=3), "max_duration": "1h"}
    answer = api.post(PATH, document, format="json")
    sweep = Sweep.objects.get(pk=answer.json()["id"])
    one = trials(sweep)[1]
    tells(one, 1.0, loss=0.1)
    go()
    settle(one)
    Job.objects.filter(pk=one.pk).update(held_seconds=7200.0)
    tells(trials(sweep)[2], 1.0, loss=0.2)
    tells(trials(sweep)[3], 1.0, loss=0.3)
    go()
    one.refresh_from_db()
    assert (one.state, one.reason) == ("cancelled", "stopped_by_sweep")
    assert "among the best 1/3, and it has used up a limit of its own" in one.message


@pytest.mark.parametrize("place", ["resume_all", "stop_all", "rest_all"])
def test_who_dies_between_two_steps_has_done_nothing_and_nothing_is_done_twice(
    add: AddSweep, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    sweep = add(max_running=3)
    tells(trials(sweep)[1], 1.0, loss=0.1)
    go()
    settle(*trials(sweep).values())
    for number, loss in ((2, None), (3, 0.2)):
        tells(trials(sweep)[number], 1.0, loss=loss)
    before = Event.objects.count()
    with monkeypatch.context() as patched:

        def die(**_: object) -> None:
            raise Killed

        patched.setattr(weighing.control, place, die)
        with pytest.raises(Killed):
            weigh_alone(sweep)
    assert SweepMark.objects.count() == 1
    assert Event.objects.count() == before
    go()
    go()
    settle(*trials(sweep).values())
    found = states(sweep)
    assert [found[number] for number in (1, 2, 3)] == ["queued", "cancelled", "paused"]
    resumed = Event.objects.filter(job=trials(sweep)[1], message__startswith="Resumed by")
    assert resumed.count() == 1


def weigh_alone(sweep: Sweep) -> None:
    found = Sweep.objects.select_related("array__team").get(pk=sweep.pk)
    weighing.weigh(found, timezone.now())


def test_who_dies_while_trials_are_submitted_has_submitted_none(
    add: AddSweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = add()
    ends(trials(sweep)[1])
    real = refilling.submission.submit
    with monkeypatch.context() as patched:

        def die(**words: object) -> None:
            real(**words)  # type: ignore[arg-type]
            raise Killed

        patched.setattr(refilling.submission, "submit", die)
        with pytest.raises(Killed):
            go()
    assert len(trials(sweep)) == 3
    go()
    go()
    assert sorted(trials(sweep)) == [1, 2, 3, 4]
    sweep.refresh_from_db()
    assert sweep.made == 4


def test_a_round_that_read_the_sweep_long_ago_submits_no_trial_twice(add: AddSweep) -> None:
    sweep = add()
    long_ago = Sweep.objects.select_related("array__team").get(pk=sweep.pk)
    ends(trials(sweep)[1])
    go()
    ends(trials(sweep)[4])
    refilling.refill(long_ago, read_pools, timezone.now())
    numbers = Job.objects.filter(array=sweep.pk).values_list("trial__number", flat=True)
    assert sorted(numbers) == [1, 2, 3, 4, 5]
    sweep.refresh_from_db()
    assert sweep.made == 5


def test_trials_that_wait_at_a_rung_keep_no_further_ones_out(add: AddSweep, vision: Team) -> None:
    Team.objects.filter(pk=vision.pk).update(max_queued_jobs=3)
    sweep = add(trials=27)
    for number in range(1, 6):
        tells(trials(sweep)[number], 1.0, loss=number / 10)
        go()
        settle(*trials(sweep).values())
    assert [*states(sweep).values()] == ["queued", *["paused"] * 4, "queued", "queued"]
    sweep.refresh_from_db()
    assert sweep.message == ""


def test_a_name_that_another_job_has_is_waited_for(add: AddSweep, api: APIClient) -> None:
    sweep = add()
    assert api.post("/api/v1/jobs", spec(name="digits-4"), format="json").status_code == 201
    ends(trials(sweep)[1])
    Sweep.objects.update(refusals=refilling.MOST_REFUSALS - 1)
    go()
    sweep.refresh_from_db()
    assert "live job named 'digits-4'" in sweep.message
    assert JobArray.objects.get(pk=sweep.pk).is_open
    assert sweep.refusals == refilling.MOST_REFUSALS // 2
    assert sweep.try_at is not None


def test_a_full_queue_is_tried_again_and_a_token_that_is_gone_is_not(
    add: AddSweep, vision: Team
) -> None:
    sweep = add()
    ends(trials(sweep)[1])
    Team.objects.filter(pk=vision.pk).update(max_queued_jobs=2)
    go()
    sweep.refresh_from_db()
    assert "max_queued_jobs" in sweep.message
    assert sweep.try_at is not None
    assert JobArray.objects.get(pk=sweep.pk).is_open
    Team.objects.filter(pk=vision.pk).update(max_queued_jobs=100)
    Sweep.objects.update(try_at=timezone.now() - timedelta(seconds=1))
    go()
    sweep.refresh_from_db()
    assert (sweep.message, sweep.refusals, len(trials(sweep))) == ("", 0, 4)
    tokens.revoke(Token.objects.get())
    ends(trials(sweep)[2])
    go()
    sweep.refresh_from_db()
    assert sweep.message.startswith("Token vision/ci was revoked")
    assert "No further trials are submitted" in sweep.message
    assert not JobArray.objects.get(pk=sweep.pk).is_open


def test_a_sweep_that_fails_stops_no_other(
    add: AddSweep, api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = add()
    other = spec(name="other", env={"A": "{{a}}"})
    other["sweep"] = {"parameters": {"a": "1..9"}, "metric": {"name": "loss"}, "max_running": 1}
    answer = api.post("/api/v1/sweeps", other, format="json")
    well = Sweep.objects.get(pk=answer.json()["id"])
    ends(trials(well)[1])
    real = weighing.weigh

    def fail(sweep: Sweep, now: object) -> None:
        if sweep.pk == broken.pk:
            raise RuntimeError("broken")
        real(sweep, now)  # type: ignore[arg-type]

    monkeypatch.setattr(weighing, "weigh", fail)
    go()
    assert len(trials(well)) == 2


def test_trials_may_be_deleted_meanwhile(add: AddSweep) -> None:
    sweep = add(trials=3)
    ends(trials(sweep)[1])
    job_deletion.delete(job_id=trials(sweep)[1].id)
    go()
    assert sorted(trials(sweep)) == [2, 3]


def test_where_there_is_no_sweep_a_round_asks_once(db: None) -> None:
    with CaptureQueriesContext(connection) as queries:
        go()
    assert len(queries) == STATEMENTS_WHERE_THERE_IS_NONE


@pytest.mark.parametrize("count", [4, 40])
def test_a_round_takes_as_many_statements_for_many_trials_as_for_few(
    add: AddSweep, vision: Team, count: int
) -> None:
    sweep = add(trials=count, max_running=count)
    go()
    with CaptureQueriesContext(connection) as queries:
        go()
    assert len(queries) <= STATEMENTS_OF_A_QUIET_SWEEP
    for number, job in trials(sweep).items():
        tells(job, 1.0, loss=float(number))
    with CaptureQueriesContext(connection) as queries:
        go()
    assert len(queries) <= STATEMENTS_OF_A_RUNG
    gone = Job.objects.filter(array=sweep.pk, ends_as="cancelled").count()
    assert gone == count - max(count // 3, 1)
