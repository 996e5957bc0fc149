"""Are GET /teams and GET /teams/{name} as promised?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Node, Pool
from django.contrib.auth.models import User
from rest_framework.test import APIClient
from tenancy.models import Membership, Quota, Team

from jobs.models import Job
from tests.service.conftest import SubmitJob, run


def rows(api: APIClient, **query: str) -> dict[str, dict[str, Any]]:
    answer = api.get("/api/v1/teams", query)
    assert answer.status_code == 200
    return {row["name"]: row for row in answer.json()["items"]}


def test_every_team_is_seen_by_everybody_with_its_numbers(
    foreign_api: APIClient, submit: SubmitJob
) -> None:
    run(submit(elastic={"max_workers": 5}), workers=3)
    submit(name="waits", elastic={"min_workers": 2, "max_workers": 4})
    assert rows(foreign_api)["vision"] == {
        "name": "vision",
        "parent": None,
        "guaranteed": 4,
        "limit": 6,
        "fair_share": 6.0,
        "allocated": 3,
        "borrowed": 0,
        "lent": 0,
        "waiting": 2,
        "running_jobs": 1,
        "waiting_jobs": 1,
        "is_mine": False,
    }


def test_sums_are_over_pools_and_a_limit_only_if_each_pool_has_one(
    api: APIClient, vision: Team
) -> None:
    other = Pool.objects.create(name="other")
    Node.objects.create(pool=other, name="node-9", gpus=8)
    quota = Quota.objects.create(team=vision, pool=other, guaranteed_gpus=3)
    assert (rows(api)["vision"]["guaranteed"], rows(api)["vision"]["limit"]) == (7, None)
    quota.limit_gpus = 5
    quota.save()
    assert rows(api)["vision"]["limit"] == 11
    assert rows(api, pool="other")["vision"]["guaranteed"] == 3


def test_an_unknown_pool_is_not_found(api: APIClient) -> None:
    assert api.get("/api/v1/teams", {"pool": "x"}).status_code == 404


def test_a_team_tells_its_quotas_but_tokens_only_to_leads_and_admins(
    api: APIClient, vision: Team, admin_user: User
) -> None:
    lead, member = User.objects.create_user("lead"), User.objects.create_user("member")
    Membership.objects.create(team=vision, user=lead, role=Membership.Role.LEAD)
    Membership.objects.create(team=vision, user=member)
    seen = {}
    for user in (lead, member, admin_user):
        client = APIClient()
        client.force_login(user)
        seen[user.username] = client.get("/api/v1/teams/vision").json()["tokens"]
    assert seen["member"] is None
    assert seen["lead"] == seen["root"]
    assert seen["lead"][0]["name"] == "ci"
    assert set(seen["lead"][0]) == {
        *("id", "name", "prefix", "state", "scopes", "created_at", "created_by"),
        *("expires_at", "revoked_at", "last_used_at", "last_used_from", "pools", "labels"),
    }
    told = api.get("/api/v1/teams/vision").json()
    assert told["tokens"] is None
    assert told["quotas"] == [
        {
            "pool": "default",
            "guaranteed_gpus": 4,
            "limit_gpus": 6,
            "lending_limit_gpus": None,
            "over_quota_weight": 1.0,
        }
    ]


def test_an_unknown_team_is_not_found(api: APIClient) -> None:
    assert api.get("/api/v1/teams/nobody").status_code == 404


@pytest.mark.parametrize("path", ["/api/v1/teams", "/api/v1/teams/vision"])
def test_standing_needs_a_token_and_the_right_method(api: APIClient, path: str) -> None:
    assert APIClient().get(path).status_code == 401
    assert api.put(path).status_code == 405


def test_a_parent_is_named(api: APIClient, vision: Team) -> None:
    Team.objects.create(name="robots", parent=vision)
    assert rows(api)["robots"]["parent"] == "vision"


def test_paused_jobs_want_nothing(api: APIClient, job: Job) -> None:
    api.post(f"/api/v1/jobs/{job.id}/pause")
    assert rows(api)["vision"]["fair_share"] == 0
