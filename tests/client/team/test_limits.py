"""Do leads and admins limit what teams use from the command line, and is it shown?"""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from tenancy.models import Membership, Team, TeamLimits

from tests.client.command_line import CommandLine

PASSWORD = "a long password"


def test_a_lead_of_the_team_above_limits_a_team_and_lifts_that_again(
    concertina: CommandLine,
) -> None:
    vision = Team.objects.get(name="vision")
    TeamLimits.objects.create(team=vision, gpu_hours_per_month=2000, when_used_up="pause")
    below = Team.objects.create(name="detection", parent=vision)
    lead = User.objects.create_user("carl", password=PASSWORD)
    Membership.objects.create(user=lead, team=vision, role="lead")
    setting = ("limits", "set", "detection", "--as", "carl")
    limited = concertina(
        *(*setting, "--gpu-hours", "500", "--running-jobs", "4", "--gpus-per-user", "8"),
        *("-o", "json"),
        stdin=PASSWORD,
    )
    assert limited.exit_code == 0, limited.err
    assert limited.document["max_gpus_per_user"] == 8
    assert limited.document["gpu_hours_per_month"] == 500.0
    assert [one["team"] for one in limited.document["budgets"]] == ["detection", "vision"]
    refused = concertina(*setting, "--gpu-hours", "2001", stdin=PASSWORD)
    assert (refused.exit_code, "Team vision above it has 2000" in refused.err) == (3, True)
    assert concertina(*setting, "--running-jobs", "none", stdin=PASSWORD).exit_code == 0
    assert TeamLimits.objects.get(team=below).max_running_jobs is None


def test_limits_and_budgets_are_shown_and_a_token_changes_none(concertina: CommandLine) -> None:
    TeamLimits.objects.create(team=Team.objects.get(name="vision"), gpu_hours_per_month=2000)
    lines = [" ".join(line.split()) for line in concertina("limits", "show").out.splitlines()]
    assert "running jobs none" in lines
    assert "GPUs per user none" in lines
    assert "GPU-hours per month 2000" in lines
    assert any(
        line.startswith("vision 20") and line.endswith("no queued job starts") for line in lines
    )
    assert concertina("limits", "set", "vision", "--gpu-hours", "1").exit_code == 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Say what to change"),
        (("--running-jobs", "-1"), "--running-jobs is a number of jobs, or none"),
        (("--gpus-per-user", "many"), "--gpus-per-user is a number of GPUs, or none"),
        (("--gpu-hours", "nan"), "--gpu-hours is a number of hours, or none"),
    ],
)
def test_what_is_no_limit_is_refused_in_words(
    concertina: CommandLine, words: tuple[str, ...], said: str
) -> None:
    ended = concertina("limits", "set", "vision", *words)
    assert (ended.exit_code, said in " ".join(ended.err.split())) == (2, True), ended.err
