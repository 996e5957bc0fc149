"""Does the command line ask the simulator, wait for it, and show what came out?"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from tenancy.models import Membership, Team

from autoscaler.simulation.api.models import Simulation
from concertina.connection.retrying import SystemClock
from tests.client.command_line import CommandLine

PASSWORD = "a long password"
AS_LEAD = ("--as", "lea")
SMALL = ("simulate", "completion_time", "static", "--jobs", "4", *AS_LEAD)


@pytest.fixture(autouse=True)
def lead(concertina: CommandLine) -> None:
    lea = User.objects.create_user("lea", password=PASSWORD)
    team = Team.objects.get(name="vision")
    Membership.objects.create(user=lea, team=team, role="lead")


def test_each_policy_is_a_row_and_what_came_out_a_sentence(
    concertina: CommandLine, simulator: None
) -> None:
    shown = concertina(*SMALL, stdin=PASSWORD)
    assert shown.exit_code == 0, shown.err
    rows = [line.split() for line in shown.out.splitlines()[1:]]
    assert {row[0] for row in rows} == {"completion_time", "static"}
    assert "on 4 GPUs." in shown.err


def test_for_programs_it_is_the_document_or_a_line_for_each_run(
    concertina: CommandLine, simulator: None
) -> None:
    done = concertina(*SMALL, "--add-gpus", "4", "-o", "csv", stdin=PASSWORD)
    runs = list(csv.DictReader(io.StringIO(done.out)))
    assert (len(runs), done.err) == (4, "")
    assert {run["jobs"] for run in runs} == {"4"}
    assert Simulation.objects.get().request["add_gpus"] == 4


def test_a_recording_is_replayed_and_the_pools_policy_is_the_usual_one(
    concertina: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stop(monkeypatch)
    file = tmp_path / "jobs.csv"
    file.write_text("name,submitted_at,profile,samples\na,0,balanced,500\nb,30,balanced,900\n")
    concertina("simulate", "--trace", file, *AS_LEAD, stdin=PASSWORD)
    asked = Simulation.objects.get().request
    assert (asked["trace"]["kind"], asked["policies"][-1]) == ("uploaded", "static")
    assert len(asked["policies"]) == 2


def stop(monkeypatch: pytest.MonkeyPatch) -> None:
    def press_control_c(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SystemClock, "sleep", press_control_c)


def test_who_stops_waiting_gives_it_up(
    concertina: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch)
    concertina(*SMALL, stdin=PASSWORD)
    assert Simulation.objects.get().state == "cancelled"


def test_who_stops_waiting_for_what_has_ended_meanwhile_is_told_of_no_error(
    concertina: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end_it_and_press_control_c(*_: object) -> None:
        Simulation.objects.update(state="cancelled", finished_at=Now())
        raise KeyboardInterrupt

    monkeypatch.setattr(SystemClock, "sleep", end_it_and_press_control_c)
    ended = concertina(*SMALL, stdin=PASSWORD)
    assert (ended.exit_code, "Error" in ended.err) == (130, False)


@pytest.mark.parametrize(
    ("words", "exit_code", "said"),
    [
        (("--days", "3", "--trace", "x.csv"), 2, "Leave one out"),
        (("--trace", "nowhere.csv"), 2, "cannot be read"),
        (("--days", "nan"), 2, "less than or equal"),
        (("--trace", "-"), 2, "Name the file"),
        (("--pool", "nowhere"), 3, "There is no pool"),
        (("nonsense",), 3, "nonsense"),
    ],
)
def test_what_is_wrong_is_said(
    words: tuple[str, ...], exit_code: int, said: str, concertina: CommandLine
) -> None:
    refused = concertina("simulate", *words, *AS_LEAD, stdin=PASSWORD)
    assert (refused.exit_code, said in " ".join(refused.err.split())) == (exit_code, True)


def test_a_team_s_token_simulates_nothing(concertina: CommandLine) -> None:
    assert concertina("simulate").exit_code == 5
