"""Does the command line tell what other quotas would have meant?"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone
from tenancy.models import Quota

from autoscaler.simulation.api import execution
from autoscaler.simulation.api.models import Simulation
from concertina.connection.retrying import SystemClock
from jobs.lifecycle import JobState
from jobs.models import Job, Measurement
from tests.client.command_line import CommandLine
from tests.client.conftest import JOB
from tests.end_to_end.waiting import until

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


@pytest.fixture
def worker() -> Iterator[None]:
    """Carries out the one preview that somebody asks for."""

    def carry_out() -> None:
        try:
            until(execution.run_next, seconds=90, what="a preview was asked for")
        finally:
            connection.close()

    thread = threading.Thread(target=carry_out)
    thread.start()
    yield
    thread.join()


def test_a_preview_shows_each_team_before_and_after_and_changes_nothing(
    concertina: CommandLine, past: None, worker: None
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


def test_without_a_past_it_says_what_to_do(concertina: CommandLine, worker: None) -> None:
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
