"""Are teams, pools and nodes made, changed and removed one by one, as a document would?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Node, Pool
from django.contrib.auth.models import User
from rest_framework.test import APIClient
from tenancy.models import AuditEntry, FairShareSettings, Quota, Team

from jobs.models import Job
from tests.service.conftest import SubmitJob, run


@pytest.fixture
def admin(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


def send(admin: APIClient, method: str, path: str, body: Any = None) -> Any:
    return getattr(admin, method)(f"/api/v1/{path}", body, format="json")


def noted(operation: str) -> AuditEntry:
    return AuditEntry.objects.get(operation=operation)


def test_a_team_is_made_moved_renamed_and_removed(
    vision: Team, language: Team, admin: APIClient
) -> None:
    body = {
        "name": "ocr",
        "parent": "vision",
        "limits": {"max_running_jobs": 2},
        "quotas": {"default": {"guaranteed_gpus": 1}},
        "images": ["ghcr.io/ocr/*"],
    }
    made = send(admin, "post", "teams", body)
    assert (made.status_code, made.json()["parent"]) == (201, "vision")
    assert made.json()["quotas"]["default"]["guaranteed_gpus"] == 1
    assert (noted("add_team").target, noted("add_team").outcome) == ("teams/ocr", "done")
    twice = send(admin, "post", "teams", {"name": "ocr"})
    assert (twice.status_code, twice.json()["code"]) == (409, "already_there")
    moved = send(admin, "patch", "teams/ocr", {"parent": "language", "max_queued_jobs": 3})
    assert (moved.status_code, moved.json()["parent"]) == (200, "language")
    assert noted("change_team").before == {"parent": "vision", "max_queued_jobs": 1000}
    assert noted("change_team").after == {"parent": "language", "max_queued_jobs": 3}
    assert send(admin, "patch", "teams/ocr", {"name": "vision"}).status_code == 400
    renamed = send(admin, "patch", "teams/ocr", {"name": "text"})
    assert (renamed.status_code, renamed.json()["name"]) == (200, "text")
    assert Team.objects.get(name="text").parent == language
    assert send(admin, "delete", "teams/text/quotas/default").status_code == 204
    assert send(admin, "delete", "teams/text/quotas/default").status_code == 404
    assert send(admin, "delete", "teams/text").status_code == 204
    assert send(admin, "delete", "teams/text").status_code == 404


@pytest.mark.parametrize(
    ("asked", "body", "status"),
    [
        ("post teams", {"name": "No"}, 400),
        ("post teams", {}, 400),
        ("post teams", {"name": "x", "parent": "nobody"}, 400),
        ("post teams", {"name": "x", "quotas": {"default": {"guaranteed_gpus": 9}}}, 400),
        ("patch teams/vision", {"parent": "vision"}, 400),
        ("patch teams/vision", {"parent": "nobody"}, 400),
        ("patch teams/vision", {"name": "No"}, 400),
        ("post pools", {"name": "default"}, 409),
        ("post pools", {"name": "p", "policy": "best"}, 400),
        ("patch pools/nowhere", {}, 404),
        ("patch pools/default", {"fair_share": {"reclaim_seconds": 1}}, 400),
        ("patch pools/default", {"fairshare": {}}, 400),
        ("post nodes", {"name": "n", "pool": "default"}, 400),
        ("post nodes", {"name": "n", "pool": "nowhere", "gpus": 1}, 400),
        ("post nodes", {"name": "a b", "pool": "default", "gpus": 1}, 400),
        ("post nodes", {"name": "node-1", "pool": "default", "gpus": 1}, 409),
        ("patch nodes/node-1", {"gpus": 0}, 400),
        ("patch nodes/node-1", {"pool": "nowhere"}, 400),
        ("patch nodes/nowhere", {}, 404),
        ("delete nodes/nowhere", None, 404),
        ("delete pools/nowhere", None, 404),
    ],
)
def test_what_cannot_be_is_refused(
    asked: str, body: Any, status: int, vision: Team, admin: APIClient
) -> None:
    answer = send(admin, *asked.split(), body)
    assert answer.status_code == status, answer.content


def test_a_pool_is_made_changed_and_removed(vision: Team, admin: APIClient) -> None:
    body = {"name": "a100", "gpu_type": "a100", "nodes": {"big-1": {"gpus": 8}}}
    made = send(admin, "post", "pools", body)
    assert (made.status_code, made.json()["nodes"]["big-1"]["gpus"]) == (201, 8)
    changes = {"policy": "scaling_efficiency", "fair_share": {"reclaim_seconds": 30}}
    changed = send(admin, "patch", "pools/a100", changes)
    assert (changed.status_code, changed.json()["policy"]) == (200, "scaling_efficiency")
    assert sorted(changed.json()["nodes"]) == ["big-1"]
    assert FairShareSettings.objects.get(pool__name="a100").reclaim_seconds == 30
    assert noted("change_pool").after == {
        "changed pool a100": {"policy": "scaling_efficiency", "fair_share.reclaim_seconds": 30.0}
    }
    assert send(admin, "delete", "pools/a100").status_code == 204
    assert not Node.objects.filter(name="big-1").exists()
    assert Quota.objects.filter(team=vision).exists()


def test_a_node_is_made_changed_and_removed(vision: Team, admin: APIClient) -> None:
    made = send(admin, "post", "nodes", {"name": "node-9", "pool": "default", "gpus": 2})
    assert (made.status_code, made.json()["pool"]) == (201, "default")
    Pool.objects.create(name="other")
    changed = send(admin, "patch", "nodes/node-9", {"pool": "other", "gpus": 3})
    assert (changed.status_code, changed.json()["gpus"]) == (200, 3)
    assert Node.objects.get(name="node-9").pool.name == "other"
    assert send(admin, "delete", "nodes/node-9").status_code == 204
    refused = send(admin, "delete", "pools/other")
    assert refused.status_code == 204
    for node in ("node-1", "node-2"):
        last = send(admin, "delete", f"nodes/{node}")
    assert (last.status_code, last.json()["code"]) == (400, "invalid_setup")  # 4 are guaranteed
    assert [node.name for node in Node.objects.all()] == ["node-2"]


def test_what_is_in_use_stays(job: Job, admin: APIClient) -> None:
    run(job, workers=1)
    Quota.objects.all().delete()
    for path in ("nodes/node-1", "pools/default", "teams/vision"):
        refused = send(admin, "delete", path)
        assert (refused.status_code, refused.json()["code"]) == (409, "in_use"), path
    assert send(admin, "patch", "nodes/node-1", {"gpus": 1}).status_code == 409
    assert send(admin, "patch", "nodes/node-1", {"gpus": 5}).status_code == 200


def test_a_job_of_a_team_that_was_renamed_runs_again(
    submit: SubmitJob, api: APIClient, admin: APIClient
) -> None:
    job = submit(team="vision")
    assert send(admin, "post", f"jobs/{job.id}/cancel").status_code == 202
    assert send(admin, "patch", "teams/vision", {"name": "sight"}).status_code == 200
    again = send(api, "post", f"jobs/{job.id}/rerun", {"name": "again"})
    assert (again.status_code, again.json()["team"]) == (201, "sight")


def test_leads_make_and_move_no_team(vision: Team, language: Team) -> None:
    lead = User.objects.create_user("lead")
    vision.memberships.create(user=lead, role="lead")
    client = APIClient()
    client.force_login(lead)
    assert send(client, "post", "teams", {"name": "x"}).status_code == 403
    assert send(client, "patch", "teams/vision", {"parent": "language"}).status_code == 403
    assert send(client, "delete", "teams/vision").status_code == 403
