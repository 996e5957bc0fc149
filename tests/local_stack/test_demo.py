"""What the demo decides and shows; the demo itself is run by `./dev demo --exit`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, cast

import pytest
from local_stack.demo import summary, workload
from local_stack.demo.conductor import Conductor
from local_stack.demo.screen import picture
from local_stack.demo.scripts import of_checkout
from local_stack.demo.workload import Bound, SubmissionTime
from local_stack.stack import preparation
from rich.console import Console

from concertina.documents import Job
from jobs.spec import job_spec

ROOT = Path(__file__).parents[2]


def document(**changes: Any) -> Job:
    fields: dict[str, Any] = {
        "id": "1", "name": "digits-cnn", "team": "vision", "state": "running",
        "message": "Grown from 2 to 3 workers.", "workers": 3, "workers_desired": 3,
        "global_batch_size": 128, "progress": 0.5, "values": {"loss": 0.25, "accuracy": 0.99},
        "completion_seconds": 90.0, "rescales": 2, "longest_stall_seconds": 0.2,
        "gpu_seconds": 180.0,
    }  # fmt: skip
    return cast("Job", {**fields, **changes})


def outcome(**changes: Any) -> summary.DemoJobOutcome:
    return summary.DemoJobOutcome(planned=workload.jobs()[0], job=document(**changes))


def test_every_demo_job_is_a_spec_that_the_service_accepts() -> None:
    for job in workload.jobs():
        assert job_spec.parse(job.spec(scripts=of_checkout(ROOT), run="a1b2c3")).name == job.name


def test_every_demo_job_has_its_script() -> None:
    for job in workload.jobs():
        assert (ROOT / "examples" / job.script).is_file()


def test_both_teams_have_several_jobs_with_names_of_their_own() -> None:
    jobs = workload.jobs()
    assert {job.team for job in jobs} == set(preparation.TEAMS)
    assert len({job.name for job in jobs}) == len(jobs) >= 4


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 8])
def test_the_guarantees_share_out_the_whole_machine(slots: int) -> None:
    assert sum(preparation.guarantees(slots).values()) == slots


def test_an_arrival_waits_for_what_should_be_seen_first_but_not_for_ever() -> None:
    arrival = SubmissionTime(after="first", workers=3, at_the_latest_seconds=60)
    assert not arrival.is_due(59, {"first": 2})
    assert arrival.is_due(1, {"first": 3})
    assert arrival.is_due(60, {})


def test_a_bound_holds_from_one_side_and_not_without_a_value() -> None:
    assert Bound(value="accuracy", at_least=0.9).is_kept(0.95)
    assert not Bound(value="accuracy", at_least=0.9).is_kept(0.85)
    assert Bound(value="loss", at_most=2.5).is_kept(2.4)
    assert not Bound(value="loss", at_most=2.5).is_kept(float("nan"))
    assert not Bound(value="loss", at_most=2.5).is_kept(None)


def test_the_summary_is_good_when_all_jobs_completed_and_learned(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert summary.show([outcome(state="completed")], slots=4, elapsed_seconds=90)
    shown = capsys.readouterr().out
    assert "accuracy 0.99 (≥ 0.95): ok" in shown
    assert "0.050" in shown  # GPU-hours
    assert "50% used" in shown
    assert "2 rescales, none longer than 0.20 s" in shown


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"state": "failed", "message": "exit code 1"}, "failed: exit code 1"),
        ({"state": "completed", "values": {"accuracy": 0.5}}, "its accuracy is 0.5"),
        ({"state": "completed", "values": {}}, "its accuracy is -"),
    ],
)
def test_the_summary_says_what_went_wrong(
    capsys: pytest.CaptureFixture[str], changes: dict[str, Any], complaint: str
) -> None:
    assert not summary.show([outcome(**changes)], slots=4, elapsed_seconds=90)
    assert complaint in capsys.readouterr().out


def test_the_picture_shows_jobs_slots_and_what_comes_next() -> None:
    conductor = Conductor(
        workload.jobs()[1:],
        url="http://127.0.0.1:1",
        tokens={"vision": "ct_x"},
        scripts=of_checkout(ROOT),
    )
    conductor.slots = 4
    conductor.documents["digits-cnn"] = document(workers_desired=4)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(picture(conductor))
    conductor.close()
    shown = console.export_text()
    assert "■ ■ ■ □" in shown
    assert "3→4" in shown
    assert "Grown from 2 to 3 workers." in shown
    assert "language/text-transformer arrives when digits-cnn trains on 3 workers" in shown
