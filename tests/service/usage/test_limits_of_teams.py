"""Who says how many jobs of a team may run and how many GPU-hours it has, and who is told of it?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from control_plane.configuration.team_visibility import TeamVisibility
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.models import AuditEntry, Membership, Team, TeamLimits
from tenancy.queries import TeamsWithLimits

from autoscaler.team_budget import month_of
from jobs.models import Job
from tests.service.conftest import SubmitJob, run, spec


@pytest.fixture
def robots(vision: Team) -> Team:
    """A team below vision."""
    return Team.objects.create(name="robots", parent=vision)


def lead_of(team: Team) -> APIClient:
    user = User.objects.create_user(f"lead-of-{team.name}")
    Membership.objects.create(team=team, user=user, role=Membership.Role.LEAD)
    client = APIClient()
    client.force_login(user)
    return client


def changed(by: APIClient, team: Team, **changes: Any) -> tuple[int, Any]:
    answer = by.patch(f"/api/v1/teams/{team.name}", changes, format="json")
    return answer.status_code, answer.json()


@pytest.mark.parametrize("value", ["nan", "NaN", "Infinity", True])
def test_no_text_and_no_truth_is_a_number_of_hours(
    vision: Team, admin_user: User, value: object
) -> None:
    admin = APIClient()
    admin.force_login(admin_user)
    assert changed(admin, vision, gpu_hours_per_month=value)[0] == 400
    sent = '{"gpu_hours_per_month": NaN}'
    url = f"/api/v1/teams/{vision.name}"
    assert admin.patch(url, sent, content_type="application/json").status_code == 400
    assert not TeamLimits.objects.exists()


def test_the_teams_below_each_of_several_are_found_in_one_walk() -> None:
    above = {1: None, 2: 1, 3: 2, 4: None, 5: 6, 6: 5}  # of 5 and 6 each is above the other
    tree = TeamsWithLimits({key: Team(pk=key, parent_id=one) for key, one in above.items()})
    assert tree.below_each([1, 2, 4, 5, 9]) == {
        1: {1, 2, 3},
        2: {2, 3},
        4: {4},
        5: {5, 6},
        9: set(),
    }
    assert tree.below(2) == {2, 3}


def test_leads_set_what_is_theirs_and_admins_all(
    vision: Team, robots: Team, admin_user: User
) -> None:
    admin, lead, own_lead = APIClient(), lead_of(vision), lead_of(robots)
    admin.force_login(admin_user)
    whole = {"max_running_jobs": 4, "gpu_hours_per_month": 100.5, "when_used_up": "pause"}
    assert changed(lead, vision, **whole)[0] == 403
    assert changed(own_lead, robots, **whole)[0] == 403
    status, told = changed(admin, vision, **whole)
    assert status == 200
    assert {name: told[name] for name in whole} == whole
    assert changed(lead, robots, **whole, max_running_jobs_per_user=2)[0] == 200
    assert changed(own_lead, robots, max_running_jobs_per_user=3)[0] == 200
    assert changed(own_lead, robots, max_queued_jobs_per_user=3, max_queued_jobs=9)[0] == 403
    limits = TeamLimits.objects.get(team=robots)
    assert (limits.max_running_jobs, limits.max_running_jobs_per_user) == (4, 3)
    seen = own_lead.get("/api/v1/teams/robots").json()
    assert seen["may_change_limits"] == [
        "max_gpus_per_user",
        "max_queued_jobs_per_user",
        "max_running_jobs_per_user",
    ]
    assert changed(admin, robots, gpu_hours_per_month=None)[1]["gpu_hours_per_month"] is None


def test_a_lead_gives_no_more_than_the_teams_above_have(vision: Team, robots: Team) -> None:
    TeamLimits.objects.create(team=vision, gpu_hours_per_month=100, max_running_jobs=4)
    lead = lead_of(vision)
    status, told = changed(lead, robots, gpu_hours_per_month=101)
    assert status == 400
    assert "Team vision above it has 100. Use at most that." in str(told)
    assert changed(lead, robots, max_running_jobs=5)[0] == 400
    assert changed(lead, robots, gpu_hours_per_month=100, max_running_jobs=4)[0] == 200


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_running_jobs", 0),
        ("max_running_jobs", 100_001),
        ("max_gpus_per_user", 0),
        ("max_gpus_per_user", 100_001),
        ("max_gpus_per_user", "all"),
        ("gpu_hours_per_month", 0.001),
        ("gpu_hours_per_month", 1e10),
        ("gpu_hours_per_month", "many"),
        ("when_used_up", "explode"),
    ],
)
def test_numbers_have_bounds(vision: Team, admin_user: User, field: str, value: object) -> None:
    admin = APIClient()
    admin.force_login(admin_user)
    status, told = changed(admin, vision, **{field: value})
    assert status == 400
    assert field in str(told)
    assert not TeamLimits.objects.exists()


def test_a_change_is_in_the_audit_log(vision: Team, admin_user: User) -> None:
    admin = APIClient()
    admin.force_login(admin_user)
    changed(admin, vision, gpu_hours_per_month=50.0)
    changed(admin, vision, gpu_hours_per_month=60.0)
    entry = AuditEntry.objects.filter(operation="change_team").order_by("-id")[0]
    assert (entry.before, entry.after) == (
        {"gpu_hours_per_month": 50.0},
        {"gpu_hours_per_month": 60.0},
    )


def test_a_team_tells_how_its_budget_stands_and_those_above(
    api: APIClient, vision: Team, robots: Team, submit: SubmitJob
) -> None:
    month = month_of(timezone.now())
    TeamLimits.objects.create(
        team=vision, gpu_hours_per_month=100, month=month, month_gpu_hours=101.5
    )
    TeamLimits.objects.create(team=robots, gpu_hours_per_month=10, when_used_up="pause")
    run(submit(), workers=2)
    first, above = api.get("/api/v1/teams/robots").json()["budgets"]
    assert (first["team"], first["used_gpu_hours"], first["then"]) == ("robots", 0.0, "pause")
    assert first["forecast_gpu_hours"] == 0.0
    assert (above["team"], above["used_gpu_hours"], above["near_gpu_hours"]) == (
        "vision",
        101.5,
        80.0,
    )
    assert above["is_used_up"]
    assert above["forecast_gpu_hours"] >= 101.5
    assert above["month"] == f"{month:%Y-%m-%d}"
    assert above["message"].startswith("Team vision has used 101.5 of the 100 GPU-hours")


def test_a_job_is_explained_with_the_limits_of_its_team_and_of_those_above(
    api: APIClient, vision: Team, submit: SubmitJob
) -> None:
    job = submit()
    with CaptureQueriesContext(connection) as before:
        assert api.get(f"/api/v1/jobs/{job.id}/explain").json()["limits"] == []
    TeamLimits.objects.create(
        team=vision,
        gpu_hours_per_month=100,
        month=month_of(timezone.now()),
        month_gpu_hours=81,
        max_running_jobs=1,
        max_running_jobs_per_user=3,
    )
    run(submit(name="other"), workers=1)
    with CaptureQueriesContext(connection) as after:
        budget, running, own = api.get(f"/api/v1/jobs/{job.id}/explain").json()["limits"]
    assert len(after) == len(before) + 1
    assert (budget["limit"], budget["team"], budget["unit"]) == (
        "gpu_hours_per_month",
        "vision",
        "gpu_hours",
    )
    assert (budget["used"], budget["most"], budget["is_used_up"]) == (81.0, 100.0, False)
    assert "An admin or a lead of a team above may raise it." in budget["message"]
    assert (running["used"], running["most"], running["is_used_up"]) == (1.0, 1.0, True)
    assert (own["used"], own["most"], own["unit"]) == (1.0, 3.0, "jobs")


def test_jobs_that_are_held_back_add_nothing_to_what_a_team_wants(
    api: APIClient, submit: SubmitJob
) -> None:
    run(submit(elastic={"max_workers": 1}), workers=1)
    held = submit(name="held", elastic={"min_workers": 2, "max_workers": 4})

    def standing() -> tuple[float, int, int]:
        row = api.get("/api/v1/teams/vision").json()
        return row["fair_share"], row["waiting"], row["waiting_jobs"]

    assert standing() == (5, 2, 1)
    Job.objects.filter(pk=held.pk).update(reason="team_job_limit")
    assert standing() == (1, 0, 1)


def test_where_teams_see_only_their_own_a_job_tells_nothing_of_the_use_of_a_team_above(
    robots: Team, vision: Team, submit: SubmitJob, settings: Settings
) -> None:
    job = submit()
    Job.objects.filter(pk=job.pk).update(team=robots)
    for team in (vision, robots):
        TeamLimits.objects.create(team=team, gpu_hours_per_month=100, max_running_jobs=4)
    lead = lead_of(robots)

    def teams() -> list[str]:
        limits = lead.get(f"/api/v1/jobs/{job.id}/explain").json()["limits"]
        return sorted({one["team"] for one in limits})

    assert teams() == ["robots", "vision"]
    settings.CONCERTINA = replace(django_settings.CONCERTINA, teams_see=TeamVisibility.OWN)
    assert teams() == ["robots"]


def test_an_unchanged_limit_may_be_more_than_a_team_above_has_by_now(
    vision: Team, robots: Team
) -> None:
    TeamLimits.objects.create(team=robots, gpu_hours_per_month=100, max_running_jobs=4)
    TeamLimits.objects.create(team=vision, gpu_hours_per_month=50)
    lead = lead_of(vision)
    assert changed(lead, robots, gpu_hours_per_month=100, max_running_jobs=3)[0] == 200
    assert changed(lead, robots, gpu_hours_per_month=101)[0] == 400


def test_no_job_is_accepted_that_needs_more_gpus_than_one_user_may_hold(
    api: APIClient, vision: Team, robots: Team, submit: SubmitJob
) -> None:
    TeamLimits.objects.create(team=vision, max_gpus_per_user=2)
    TeamLimits.objects.create(team=robots, max_gpus_per_user=3)
    large = {"min_workers": 3, "max_workers": 4}
    with CaptureQueriesContext(connection) as captured:
        answer = api.post("/api/v1/jobs", spec(elastic=large), format="json")
    assert answer.status_code == 422
    (problem,) = answer.json()["details"]
    assert (answer.json()["code"], problem["field"]) == ("exceeds_limit", "elastic.min_workers")
    assert problem["problem"] == (
        "needs at least 3 GPUs (3 workers of 1), but jobs of one person or token may hold 2 at once"
        " in team vision (max_gpus_per_user)"
    )
    assert problem["remedy"] == (
        "Use at most 2 workers as the smallest size, or have a lead of team vision or an admin"
        " raise the limit."
    )
    assert sum('JOIN "tenancy_teamlimits"' in one["sql"] for one in captured) == 1
    job = submit(name="small", elastic={"min_workers": 2, "max_workers": 4})
    changed_job = api.patch(f"/api/v1/jobs/{job.id}", {"elastic": large}, format="json")
    assert (changed_job.status_code, "max_gpus_per_user" in str(changed_job.json())) == (422, True)
    with CaptureQueriesContext(connection) as captured:
        submit(name="one", elastic={"min_workers": 1, "max_workers": 4})
    assert sum('JOIN "tenancy_teamlimits"' in one["sql"] for one in captured) == 1  # see TeamStock
    below = TeamsWithLimits.read().gpus_per_user(robots.pk)
    assert below is not None
    assert (below[0], below[1].name) == (2, "vision")


def test_a_job_is_explained_with_the_gpus_that_its_user_holds(
    api: APIClient, vision: Team, submit: SubmitJob
) -> None:
    TeamLimits.objects.create(team=vision, max_gpus_per_user=4)
    job = submit(name="mine")
    run(submit(name="beside"), workers=2)
    waits = submit(name="foreign")
    Job.objects.filter(pk=waits.pk).update(submitted_by="somebody")
    (limit,) = api.get(f"/api/v1/jobs/{job.id}/explain").json()["limits"]
    assert (limit["limit"], limit["unit"], limit["used"], limit["most"]) == (
        "max_gpus_per_user",
        "gpus",
        2.0,
        4.0,
    )
    (foreign,) = api.get(f"/api/v1/jobs/{waits.id}/explain").json()["limits"]
    assert foreign["used"] == 0.0
    assert limit["message"] == (
        "The team's jobs of whoever submitted it hold 2 of at most 4 GPUs (`max_gpus_per_user`)."
        " A lead of team vision or an admin may raise it."
    )


def test_no_user_lets_more_jobs_wait_than_they_may(
    api: APIClient, vision: Team, submit: SubmitJob
) -> None:
    TeamLimits.objects.create(team=vision, max_queued_jobs_per_user=2)
    Job.objects.filter(pk=submit(name="one").pk).update(submitted_by="somebody")
    submit(name="two")
    submit(name="three")
    answer = api.post("/api/v1/jobs", spec(name="four"), format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_queued_jobs")
    assert answer.json()["message"].startswith(
        "You have 2 waiting jobs in team vision, queued or paused, and may have at most 2"
        " (max_queued_jobs_per_user)."
    )
