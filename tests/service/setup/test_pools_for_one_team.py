"""Where processes of all teams are one user, a pool serves one team until an admin says more."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from cluster.models import Pool
from cluster.process_host.users.team_users import TeamUsers
from cluster.ray_host.kind import RayKind
from cluster.variables import EnvironmentVariables
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.models import Quota, Team

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.service.conftest import spec

SETUP = "/api/v1/cluster/setup:apply"
QUOTA = "/api/v1/teams/robots/quotas/default"
SAID = "CONCERTINA_RAY_FIRST_UID is not set"


@pytest.fixture
def admin(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


@pytest.fixture(autouse=True)
def _on_ray(settings: Settings) -> None:
    variables = {"CONCERTINA_RAY_ADDRESS": "head:6379", "CONCERTINA_RAY_UNPROTECTED": "yes"}
    kind = RayKind.read(EnvironmentVariables(variables), host_id="test")
    settings.CONCERTINA = replace(django_settings.CONCERTINA, worker_host=kind)


@pytest.fixture
def robots(vision: Team) -> Team:
    """Of two teams, of which the other has a quota in the pool."""
    return Team.objects.create(name="robots")


def trust(admin: APIClient, *, is_there: bool) -> Any:
    wanted = {"pools": {"default": {"teams_trust_each_other": is_there}}}
    return admin.post(SETUP, {"setup": wanted}, format="json")


def test_a_second_team_gets_a_quota_only_where_teams_trust_each_other(
    admin: APIClient, robots: Team
) -> None:
    wanted = {"setup": {"teams": {"robots": {"quotas": {"default": {"guaranteed_gpus": 0}}}}}}
    answer = admin.patch(QUOTA, {"guaranteed_gpus": 0}, format="json")
    assert answer.status_code == 400
    (detail,) = answer.json()["details"]
    assert "vision has a quota there" in str(detail)
    assert SAID in str(detail)
    (fault,) = admin.post(SETUP, wanted, format="json").json()["details"]
    assert (fault["field"], SAID in fault["remedy"]) == ("teams.robots.quotas.default", True)
    assert trust(admin, is_there=True).status_code == 200
    assert admin.patch(QUOTA, {"guaranteed_gpus": 0}, format="json").status_code == 200
    (fault,) = trust(admin, is_there=False).json()["details"]
    assert fault["field"] == "pools.default.teams_trust_each_other"


def test_what_two_teams_had_before_is_changed_and_kept(admin: APIClient, robots: Team) -> None:
    Quota.objects.create(team=robots, pool=Pool.objects.get())
    assert admin.patch(QUOTA, {"guaranteed_gpus": 1}, format="json").status_code == 200
    assert admin.delete(QUOTA).status_code == 204
    assert admin.patch(QUOTA, {"guaranteed_gpus": 1}, format="json").status_code == 400


def test_the_admin_pages_say_the_same(admin_client: Any, robots: Team) -> None:
    pool = Pool.objects.get()
    page = f"/admin/cluster/pool/{pool.pk}/change/"
    new = {"team": robots.pk, "pool": pool.pk, "guaranteed_gpus": 0, "over_quota_weight": 1.0}
    said = admin_client.post("/admin/tenancy/quota/add/", new).content.decode()
    assert SAID in said
    quota = Quota.objects.get()
    fields = {
        "name": "default",
        "gpu_type": "slot",
        "policy": pool.policy,
        "admission": "queueing",
        "policy_options": "{}",
        "dollars_per_gpu_hour": 0,
        "all_reduce": "[]",
        "ray_selector": "{}",
        "nodes_min": 0,
        "patience_seconds": 60,
        "idle_minutes": 10,
        "nodes_per_hour": 12,
        **{f"nodes-{one}": 0 for one in ("TOTAL_FORMS", "INITIAL_FORMS")},
        **{f"prefetched_images-{one}": 0 for one in ("TOTAL_FORMS", "INITIAL_FORMS")},
        "quotas-TOTAL_FORMS": 2,
        "quotas-INITIAL_FORMS": 1,
        "quotas-0-id": quota.pk,
        **{f"quotas-{at}-pool": pool.pk for at in (0, 1)},
        **{f"quotas-{at}-over_quota_weight": 1.0 for at in (0, 1)},
        **{f"quotas-{at}-guaranteed_gpus": 0 for at in (0, 1)},
        "quotas-0-team": quota.team_id,
        "quotas-1-team": robots.pk,
    }
    assert SAID in admin_client.post(page, fields).content.decode()
    trusting = {**fields, "teams_trust_each_other": "on"}
    assert admin_client.post(page, trusting).status_code == 302
    assert Quota.objects.count() == 2
    both = Quota.objects.order_by("pk").values_list("pk", flat=True)
    kept = {**fields, "quotas-INITIAL_FORMS": 2, "quotas-0-id": both[0], "quotas-1-id": both[1]}
    moved = {**kept, "quotas-0-team": Team.objects.create(name="third").pk}
    Pool.objects.update(teams_trust_each_other=False)
    assert "third" not in Quota.objects.values_list("team__name", flat=True)
    assert SAID in admin_client.post(page, moved).content.decode()
    Pool.objects.update(teams_trust_each_other=True)
    assert "Teams robots, vision have quotas" in admin_client.post(page, kept).content.decode()


def test_a_team_without_a_quota_does_not_get_in_by_a_job(api: APIClient, robots: Team) -> None:
    assert api.post("/api/v1/jobs", spec(), format="json").status_code == 201
    pool = Pool.objects.get()
    Quota.objects.update(team=robots)
    answer = api.post("/api/v1/jobs", spec(), format="json")
    (problem,) = answer.json()["details"]
    assert (answer.status_code, problem["field"]) == (422, "pool")
    assert "has no quota there" in problem["problem"]
    assert SAID in problem["problem"]
    Quota.objects.all().delete()
    assert api.post("/api/v1/jobs", spec(), format="json").status_code == 422
    robots.delete()
    answer = api.post("/api/v1/jobs", spec(name="b"), format="json")
    assert answer.status_code == 201, answer.json()  # alone
    Team.objects.create(name="others")
    Pool.objects.filter(pk=pool.pk).update(teams_trust_each_other=True)
    assert api.post("/api/v1/jobs", spec(name="c"), format="json").status_code == 201


def test_teams_that_have_jobs_there_are_there(
    api: APIClient, admin: APIClient, robots: Team
) -> None:
    """Theirs would run beside the other's, as the same user."""
    assert trust(admin, is_there=True).status_code == 200
    assert api.post("/api/v1/jobs", spec(), format="json").status_code == 201
    Quota.objects.update(team=robots)  # vision has none, and a job
    (fault,) = trust(admin, is_there=False).json()["details"]
    assert "Teams robots, vision have quotas in this pool, or jobs" in fault["remedy"]
    pool = Pool.objects.get()
    pool.teams_trust_each_other = False
    with pytest.raises(ValidationError, match="or jobs that have not ended"):
        pool.clean()
    pool.save()
    Quota.objects.all().delete()
    wanted = {"setup": {"teams": {"robots": {"quotas": {"default": {"guaranteed_gpus": 0}}}}}}
    (fault,) = admin.post(SETUP, wanted, format="json").json()["details"]
    assert "vision has a quota there, or jobs" in fault["remedy"]
    assert admin.patch(QUOTA, {"guaranteed_gpus": 0}, format="json").status_code == 400
    Job.objects.update(state=JobState.CANCELLED, finished_at=timezone.now())
    assert admin.patch(QUOTA, {"guaranteed_gpus": 0}, format="json").status_code == 200


def test_a_new_installation_says_it_too(db: None) -> None:
    teams = {"team": ["a=2", "b=2"], "stdout": io.StringIO()}
    with pytest.raises(CommandError, match="--teams-trust-each-other"):
        call_command("bootstrap", **teams)
    call_command("bootstrap", teams_trust_each_other=True, **teams)
    assert Quota.objects.count() == 2


def test_all_who_see_a_pool_are_told_where_teams_trust_each_other(
    admin: APIClient, api: APIClient, robots: Team, settings: Settings
) -> None:
    def told() -> list[bool]:
        return [one["teams_trust_each_other"] for one in api.get("/api/v1/pools").json()["items"]]

    assert told() == [False]
    assert trust(admin, is_there=True).status_code == 200
    assert told() == [True]
    kind = settings.CONCERTINA.worker_host
    users = TeamUsers(first=1_900_000_000, last=1_900_065_535, remedy="")
    apart = replace(kind, team_users=users)  # where it means nothing
    settings.CONCERTINA = replace(settings.CONCERTINA, worker_host=apart)
    assert told() == [False]
