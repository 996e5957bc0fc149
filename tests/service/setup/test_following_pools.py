"""Pools that follow a cluster are set up by labels; their nodes are the cluster's to bring."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from cluster.models import Node, Pool
from cluster.ray_host.kind import RayKind
from cluster.variables import EnvironmentVariables
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.models import Quota, Team

LABELS = {"concertina.io/pool": "h100"}
SETUP = "/api/v1/cluster/setup"


@pytest.fixture
def admin(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


@pytest.fixture
def on_ray(settings: Settings) -> None:
    variables = {"CONCERTINA_RAY_ADDRESS": "head:6379", "CONCERTINA_RAY_UNPROTECTED": "yes"}
    kind = RayKind.read(EnvironmentVariables(variables), host_id="test")
    settings.CONCERTINA = replace(django_settings.CONCERTINA, worker_host=kind)


@pytest.fixture
def followed(on_ray: None, vision: Team) -> Pool:
    """Of two nodes with four GPUs each."""
    Pool.objects.update(ray_selector=LABELS)
    return Pool.objects.get()


def applied(admin: APIClient, setup: Any) -> Any:
    return admin.post(f"{SETUP}:apply", {"setup": setup}, format="json")


def faults(answer: Any) -> dict[str, str]:
    assert answer.status_code == 400, answer.json()
    return {one["field"]: f"{one['problem']} {one['remedy']}" for one in answer.json()["details"]}


def test_a_pool_is_made_that_follows(admin: APIClient, on_ray: None, pool: Pool) -> None:
    new = {"gpu_type": "h100", "ray_selector": LABELS, "gpus_per_node": 4}
    assert applied(admin, {"pools": {"h100": new}}).status_code == 200
    made = Pool.objects.get(name="h100")
    assert (made.ray_selector, made.gpus_per_node) == (LABELS, 4)
    (shown,) = [one for one in admin.get("/api/v1/pools").json()["items"] if one["name"] == "h100"]
    assert (shown["ray_selector"], shown["gpus_missing"]) == (LABELS, 0)


def test_without_a_cluster_there_is_nothing_to_follow(admin: APIClient, pool: Pool) -> None:
    said = faults(applied(admin, {"pools": {"default": {"ray_selector": LABELS}}}))
    assert "CONCERTINA_WORKER_HOST=ray" in said["pools.default.ray_selector"]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"ray_selector": {"a b": "c"}}, "ray_selector"),
        ({"ray_selector": {"a": ""}}, "ray_selector.a"),
        ({"ray_selector": {"a": "b" * 64}}, "ray_selector.a"),
        ({"ray_selector": ["a"]}, "ray_selector"),
        ({"gpus_per_node": 4}, "gpus_per_node"),
        ({"gpus_per_node": 0, "ray_selector": LABELS}, "gpus_per_node"),
        ({"gpus_per_node": 1025, "ray_selector": LABELS}, "gpus_per_node"),
    ],
)
def test_what_cannot_be_followed_is_refused(
    admin: APIClient, on_ray: None, pool: Pool, fields: Any, place: str
) -> None:
    said = faults(applied(admin, {"pools": {"default": fields}}))
    (where,) = said
    assert where.removeprefix("setup.").startswith(f"pools.default.{place}")


def test_its_nodes_are_no_part_of_the_setup(admin: APIClient, followed: Pool) -> None:
    exported = admin.get(SETUP).json()["setup"]
    assert exported["pools"]["default"]["nodes"] == {}
    answer = admin.post(f"{SETUP}:apply", {"setup": exported, "prune": True}, format="json")
    assert answer.json()["changes"] == []
    assert Node.objects.count() == 2


def test_nodes_are_neither_added_to_it_nor_removed(admin: APIClient, followed: Pool) -> None:
    said = faults(applied(admin, {"pools": {"default": {"nodes": {"n9": {"gpus": 4}}}}}))
    assert "follows a cluster" in said["pools.default.nodes.n9"]
    other = {"pools": {"other": {"nodes": {"node-1": {"gpus": 4}}}}}
    assert "has the name of a node" in faults(applied(admin, other))["pools.other.nodes.node-1"]
    assert Node.objects.count() == 2


def test_guarantees_above_what_is_there_are_kept_and_told(admin: APIClient, followed: Pool) -> None:
    more = {"guaranteed_gpus": 20, "limit_gpus": 20}
    assert applied(admin, {"teams": {"vision": {"quotas": {"default": more}}}}).status_code == 200
    assert Quota.objects.get().guaranteed_gpus == 20
    Quota.objects.get().full_clean()
    (shown,) = admin.get("/api/v1/pools").json()["items"]
    assert (shown["gpus_total"], shown["gpus_missing"]) == (8, 12)


def test_admins_cordon_its_nodes_and_see_why_one_leaves(admin: APIClient, followed: Pool) -> None:
    Node.objects.filter(name="node-1").update(leaving_because="Ray drains it")
    shown = admin.get("/api/v1/nodes").json()["items"][0]
    assert shown["leaving_because"] == "Ray drains it"
    shown = admin.post("/api/v1/nodes/node-1/cordon").json()
    assert (shown["is_schedulable"], shown["leaving_because"]) == (False, "")


def test_the_admin_pages_add_no_node_to_it(admin_client: Any, followed: Pool) -> None:
    page = admin_client.get(f"/admin/cluster/pool/{followed.pk}/change/").content.decode()
    assert 'name="nodes-MAX_NUM_FORMS" value="0"' in page
    new = {"pool": followed.pk, "name": "n9", "address": "10.0.0.9", "gpus": 4, "gpu_uuids": "[]"}
    answer = admin_client.post("/admin/cluster/node/add/", {**new, "is_schedulable": "on"})
    assert "come from its cluster" in answer.content.decode()
