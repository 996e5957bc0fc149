"""Pools that ask their cluster for machines: how that is set up, and who sees what they do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from cluster.models import MachineEvent, Node, Pool
from control_plane.queries.pool_capacities import read_pools
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from tests.service.setup.test_following_pools import (
    LABELS,
    SETUP,
    admin,
    applied,
    faults,
    followed,
    on_ray,
)

__all__ = ["admin", "followed", "on_ray"]  # fixtures
ASKS = {
    "ray_selector": LABELS,
    "gpus_per_node": 4,
    "nodes_min": 1,
    "nodes_max": 6,
    "worth_a_node": 2.5,
    "patience_seconds": 120,
    "idle_minutes": 30,
    "nodes_per_hour": 6,
}
AT = datetime(2026, 11, 29, 12, tzinfo=UTC)


def machines(client: APIClient) -> Any:
    (shown,) = client.get("/api/v1/pools").json()["items"]
    return shown["machines"]


def test_what_a_pool_may_ask_for_is_set_up_exported_and_shown(
    admin: APIClient, on_ray: None, pool: Pool
) -> None:
    assert machines(admin) is None
    assert applied(admin, {"pools": {"default": ASKS}}).status_code == 200
    exported = admin.get(SETUP).json()["setup"]["pools"]["default"]
    assert {name: exported[name] for name in ASKS} == ASKS
    shown = machines(admin)
    assert {name: shown[name] for name in ASKS.keys() - {"ray_selector"}} == {
        name: value for name, value in ASKS.items() if name != "ray_selector"
    }
    assert (shown["needed_since"], shown["asked_since"], shown["note"]) == (None, None, "")
    assert shown["events"] == []
    assert applied(admin, {"pools": {"default": {"nodes_max": None, "nodes_min": 0}}}).json()
    assert machines(admin) is None


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"nodes_max": 0}, "nodes_max"),
        ({"nodes_max": 1001}, "nodes_max"),
        ({"nodes_min": -1}, "nodes_min"),
        ({"nodes_min": 1001}, "nodes_min"),
        ({"nodes_min": 7}, "nodes_min"),
        ({"nodes_max": None}, "nodes_min"),
        ({"gpus_per_node": None}, "gpus_per_node"),
        ({"worth_a_node": -0.1}, "worth_a_node"),
        ({"worth_a_node": 1.1e9}, "worth_a_node"),
        ({"patience_seconds": 9}, "patience_seconds"),
        ({"patience_seconds": 86_401}, "patience_seconds"),
        ({"idle_minutes": 0}, "idle_minutes"),
        ({"idle_minutes": 10_081}, "idle_minutes"),
        ({"nodes_per_hour": 0}, "nodes_per_hour"),
        ({"nodes_per_hour": 1001}, "nodes_per_hour"),
        ({"ray_selector": {}, "gpus_per_node": None}, "nodes_max"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(
    admin: APIClient, on_ray: None, pool: Pool, fields: Any, place: str
) -> None:
    said = faults(applied(admin, {"pools": {"default": {**ASKS, **fields}}}))
    (where,) = said
    assert where.removeprefix("setup.") == f"pools.default.{place}"


def test_what_is_done_about_machines_is_told_to_those_who_see_the_pool(
    followed: Pool, api: APIClient
) -> None:
    Pool.objects.update(nodes_max=6, gpus_per_node=4, asking_note="It has nodes_max (6).")
    followed.machine_requests.create(asked_at=AT, reason="a waiting job would start")
    for number in range(12):
        MachineEvent.objects.create(
            at=AT, kind="asked", pool="default", reason=f"reason {number}", numbers={"nodes": 2}
        )
    shown = machines(api)
    assert (shown["asked_since"], shown["note"]) == (
        "2026-11-29T12:00:00Z",
        "It has nodes_max (6).",
    )
    assert [one["reason"] for one in shown["events"]] == [f"reason {n}" for n in range(11, 1, -1)]
    assert shown["events"][0] == {
        "at": "2026-11-29T12:00:00Z",
        "kind": "asked",
        "node": "",
        "reason": "reason 11",
        "numbers": {"nodes": 2},
        "said": "one more machine was asked for: reason 11.",
    }


def test_a_pool_that_asks_for_nothing_costs_no_statement(admin: APIClient, followed: Pool) -> None:
    def statements() -> list[str]:
        with CaptureQueriesContext(connection) as seen:
            admin.get("/api/v1/pools")
        return [one["sql"] for one in seen.captured_queries if "machine" in one["sql"]]

    assert statements() == []


def test_many_pools_that_ask_cost_no_more_statements(admin: APIClient, followed: Pool) -> None:
    Pool.objects.update(nodes_max=6, gpus_per_node=4)

    def statements() -> int:
        with CaptureQueriesContext(connection) as seen:
            admin.get("/api/v1/pools")
        return len([one for one in seen.captured_queries if "machine" in one["sql"]])

    few = statements()
    for number in range(3):
        Pool.objects.create(
            name=f"more-{number}", ray_selector=LABELS, nodes_max=6, gpus_per_node=4
        )
        MachineEvent.objects.create(at=AT, kind="asked", pool=f"more-{number}", reason="a need")
    assert statements() == few
    shown = {one["name"]: one["machines"] for one in admin.get("/api/v1/pools").json()["items"]}
    assert [len(shown[name]["events"]) for name in sorted(shown)] == [0, 1, 1, 1]


def test_a_job_may_be_as_large_as_the_pool_may_become(followed: Pool) -> None:
    (pool,) = read_pools()
    assert (pool.gpus, pool.gpus_of_largest_node) == (8, 4)
    Pool.objects.update(nodes_max=6, gpus_per_node=8)
    (pool,) = read_pools()
    assert (pool.gpus, pool.gpus_of_largest_node) == (48, 8)
    Node.objects.all().delete()
    (pool,) = read_pools()
    assert (pool.gpus, pool.gpus_of_largest_node) == (48, 8)


def test_the_admin_page_tells_what_was_done(admin_client: Any, followed: Pool) -> None:
    MachineEvent.objects.create(
        at=AT, kind="given_back", pool="default", node="node-1", reason="nothing runs there"
    )
    page = admin_client.get(f"/admin/cluster/pool/{followed.pk}/change/").content.decode()
    assert "2026-11-29 12:00 UTC: node-1 was given back: nothing runs there." in page
    assert 'name="nodes_max"' in page


def test_whoever_opens_a_node_on_the_admin_page_keeps_it(followed: Pool) -> None:
    Node.objects.filter(name="node-1").update(
        is_schedulable=False, is_draining=True, giving_back_since=AT, is_released=True
    )
    node = Node.objects.get(name="node-1")
    node.is_schedulable, node.is_draining = True, False
    node.full_clean()
    node.save()
    assert Node.objects.get(name="node-1").takes_work
    assert not Node.objects.get(name="node-1").is_released
