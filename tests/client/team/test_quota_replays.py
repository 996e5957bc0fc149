"""Does the command line tell what other quotas would have meant, and what theirs are worth?"""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from tenancy.models import Quota

from autoscaler.simulation.api.models import Simulation
from concertina.connection.retrying import SystemClock
from jobs.lifecycle import JobState
from jobs.models import Job, Measurement
from tests.client.command_line import CommandLine
from tests.client.conftest import JOB

PASSWORD = "a long password"
AS_ROOT = ("--as", "root")


@pytest.fixture
def past(concertina: CommandLine) -> None:
    User.objects.create_superuser("root", password=PASSWORD)
    assert concertina("submit", "-f", "-", stdin=JOB).exit_code == 0
    job = Job.objects.get()
    Measurement.objects.create(
        job=job, workers=1, global_batch_size=64, steps=100, step_seconds=0.1
    )
    Job.objects.update(state=JobState.COMPLETED, samples=640_000, finished_at=timezone.now())


def test_a_preview_shows_each_team_before_and_after_and_changes_nothing(
    concertina: CommandLine, past: None, simulator: None
) -> None:
    change = ("quota", "preview", "vision=0", "language=1", *AS_ROOT)
    shown = concertina(*change, stdin=PASSWORD)
    assert shown.exit_code == 0, shown.err
    (row,) = [line for line in shown.out.splitlines() if "vision" in line]
    assert "2 → 0" in row
    assert "1 job of the past until" in shown.err
    again = concertina(*change, "-o", "json", stdin=PASSWORD).document  # what is there already
    vision = next(one for one in again["result"]["teams"] if one["team"] == "vision")
    assert vision["after"]["borrowed_gpu_hours"] > vision["before"]["borrowed_gpu_hours"]
    assert {quota.guaranteed_gpus for quota in Quota.objects.all()} == {2}


def test_without_a_past_it_says_what_to_do(concertina: CommandLine, simulator: None) -> None:
    User.objects.create_superuser("root", password=PASSWORD)
    refused = concertina("quota", "preview", "vision=0", *AS_ROOT, stdin=PASSWORD)
    assert (refused.exit_code, "Look further back" in refused.err) == (3, True)


def test_who_stops_waiting_gives_the_preview_up(
    concertina: CommandLine, past: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press_control_c(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SystemClock, "sleep", press_control_c)
    concertina("quota", "preview", "--add-gpus", "2", *AS_ROOT, stdin=PASSWORD)
    assert Simulation.objects.get().state == "cancelled"


def test_a_price_shows_each_step_and_tells_what_one_gpu_more_would_save(
    concertina: CommandLine, past: None, simulator: None
) -> None:
    asked = ("quota", "price", "vision", "--steps=-1,+1,3", *AS_ROOT)
    shown = concertina(*asked, stdin=PASSWORD)
    assert shown.exit_code == 0, shown.err
    rows = [line.split()[:2] for line in shown.out.splitlines()[1:]]
    assert rows == [["-1", "1"], ["now", "2"], ["+1", "3"], ["+3", "5"]]
    said = " ".join(shown.err.split())
    assert "1 job of the past until" in said
    assert "One GPU more would have saved it 0.0 h of its jobs a week." in said
    assert "+3: the pool has promised what it has, so here it has 3 more." in said
    again = concertina(*asked, "-o", "json", stdin=PASSWORD).document  # what is there already
    assert [step["adds_gpus"] for step in again["result"]["steps"]] == [0, 1, 3]


def test_a_step_that_is_no_number_or_takes_too_much_is_refused_in_words(
    concertina: CommandLine, past: None
) -> None:
    refused = concertina("quota", "price", "vision", "--steps=1,x")
    assert (refused.exit_code, "is no number of GPUs" in refused.err) == (2, True)
    refused = concertina("quota", "price", "vision", "--steps=-3", *AS_ROOT, stdin=PASSWORD)
    assert (refused.exit_code, "lowered by at most 2:" in " ".join(refused.err.split())) == (
        3,
        True,
    )
    assert concertina("quota", "price", "vision").exit_code == 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Say what to preview"),
        (("vision",), "is no guarantee"),
        (("vision=-1",), "is no guarantee"),
        (("=4",), "is no guarantee"),
        (("vision=12345678",), "is no guarantee"),
    ],
)
def test_what_is_no_guarantee_is_refused_in_words(
    words: tuple[str, ...], said: str, concertina: CommandLine
) -> None:
    refused = concertina("quota", "preview", *words)
    assert (refused.exit_code, said in " ".join(refused.err.split())) == (2, True)


def test_a_token_previews_nothing_and_too_much_names_the_field(
    concertina: CommandLine, past: None
) -> None:
    assert concertina("quota", "preview", "vision=1").exit_code == 5
    refused = concertina("quota", "preview", "vision=9", *AS_ROOT, stdin=PASSWORD)
    assert (refused.exit_code, "Guarantee at most 2" in " ".join(refused.err.split())) == (3, True)
