"""Are GET /nodes and the verbs of maintenance as promised?"""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any

import pytest
from cluster.models import Node, NodeChange, Pool
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from pytest_django import Settings
from rest_framework.test import APIClient

from jobs.models import Job
from tests.service.conftest import in_docker, run
from tests.service.syncing import report, sync

URL = "/api/v1/nodes"


@pytest.fixture
def admin_api(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(admin_user)
    return client


def changes() -> list[tuple[str, str]]:
    return list(NodeChange.objects.order_by("id").values_list("node", "kind"))


def test_nodes_are_listed_by_name_with_the_gpus_in_use(api: APIClient, job: Job) -> None:
    run(job, workers=2)
    told = api.get(URL).json()
    assert told["next_after"] is None
    assert [(node["name"], node["gpus_used"]) for node in told["items"]] == [
        ("node-1", 2),
        ("node-2", 0),
    ]
    assert told["items"][0]["pool"] == "default"


def test_a_page_says_how_to_ask_for_the_next_one(api: APIClient) -> None:
    first = api.get(URL, {"limit": 1}).json()
    assert first["next_after"] == "node-1"
    second = api.get(URL, {"limit": 1, "after": first["next_after"]}).json()
    assert [node["name"] for node in second["items"]] == ["node-2"]
    assert second["next_after"] is None
    assert api.get(URL, {"pool": "other"}).json()["items"] == []
    assert api.get(URL, {"limit": 0}).status_code == 400


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("", True),
        ("https://concertina.example.com", True),
        ("http://10.0.0.7:8000", True),
        ("concertina.example.com", False),
        ("http://localhost:8000", False),
        ("http://127.0.0.1:8000", False),
    ],
)
def test_where_coordinators_of_a_node_reach_the_api(url: str, *, is_one: bool) -> None:
    node = Node(name="n", gpus=1, service_url=url)
    with nullcontext() if is_one else pytest.raises(ValidationError, match="that this node"):
        node.clean()


@pytest.mark.parametrize(
    ("field", "value"), [("host_url", "tcp://another:2376"), ("name", "another")]
)
def test_a_node_in_use_stays_the_machine_that_it_is(job: Job, field: str, value: str) -> None:
    run(job, workers=2)
    used, idle = Node.objects.order_by("name")
    used.full_clean()
    for node in (used, idle):
        setattr(node, field, value)
    with pytest.raises(ValidationError, match="Drain it first") as caught:
        used.full_clean()
    assert set(caught.value.message_dict) == {field}
    idle.full_clean()


@pytest.mark.parametrize(
    ("verb", "is_schedulable", "is_draining", "kind"),
    [("cordon", False, False, "cordoned"), ("drain", False, True, "draining")],
)
def test_an_admin_takes_a_node_out_of_service_and_puts_it_back(
    admin_api: APIClient, pool: Pool, verb: str, kind: str, *, is_schedulable: bool,
    is_draining: bool,
) -> None:  # fmt: skip
    for _ in range(2):  # asking twice changes nothing
        node = admin_api.post(f"{URL}/node-1/{verb}").json()
        assert (node["is_schedulable"], node["is_draining"]) == (is_schedulable, is_draining)
    node = admin_api.post(f"{URL}/node-1/uncordon").json()
    assert (node["is_schedulable"], node["is_draining"]) == (True, False)
    assert changes()[-2:] == [("node-1", kind), ("node-1", "uncordoned")]
    assert len(changes()) == 4  # both nodes joined before


@pytest.mark.parametrize("verb", ["cordon", "drain", "uncordon"])
def test_a_team_may_not_touch_nodes(api: APIClient, verb: str) -> None:
    answer = api.post(f"{URL}/node-1/{verb}")
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert APIClient().post(f"{URL}/node-1/{verb}").status_code == 401
    assert api.get(f"{URL}/node-1/{verb}").status_code == 405
    assert Node.objects.filter(is_schedulable=True).count() == 2


def test_an_unknown_node_is_not_found(admin_api: APIClient, pool: Pool) -> None:
    answer: dict[str, Any] = admin_api.post(f"{URL}/nowhere/drain").json()
    assert (answer["code"], answer["message"]) == ("not_found", "There is no node 'nowhere'.")


def test_a_node_that_takes_work_cannot_be_draining(pool: Pool) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Node.objects.update(is_draining=True)


def test_a_removed_node_is_remembered(pool: Pool) -> None:
    Node.objects.get(name="node-2").delete()
    assert changes()[-1] == ("node-2", "lost")


def test_a_silent_node_says_since_when_and_why(admin_api: APIClient, pool: Pool) -> None:
    since = datetime(2026, 11, 22, 14, 2, tzinfo=UTC)
    Node.objects.filter(name="node-2").update(silent_since=since, silent_reason="no route to host")
    told = [
        (node["silent_since"], node["silent_reason"]) for node in admin_api.get(URL).json()["items"]
    ]
    assert told == [(None, ""), ("2026-11-22T14:02:00Z", "no route to host")]
    (shown,) = admin_api.get("/api/v1/pools").json()["items"]
    assert [node["silent_reason"] for node in shown["nodes"]] == ["", "no route to host"]


def test_a_node_tells_how_many_slow_workers_were_found_there(api: APIClient, job: Job) -> None:
    slow, other = run(job, workers=2)
    found = {"phase": "training", "relative_speed": 0.6, "is_straggler": True}
    for worker in (slow, slow, other):
        sync(job, report(workers=[{"worker_id": worker.id, **found}]))
    assert [node["stragglers"] for node in api.get(URL).json()["items"]] == [2, 0]


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("", True),
        ("unix:///var/run/docker.sock", True),
        ("ssh://me@gpu-7:2222/run/docker.sock", True),
        ("tcp://gpu-7:2376", True),
        ("gpu-7:2376", False),
        ("http://gpu-7:2375", False),
        ("tcp://", False),
        ("tcp://[gpu-7", False),
        ("unix://docker.sock", False),
        ("/var/run/docker.sock", False),
    ],
)
def test_what_is_no_address_of_a_docker_daemon_is_refused(
    url: str,
    settings: Settings,
    is_one: bool,  # noqa: FBT001
) -> None:
    in_docker(settings)
    node = Node(name="n", gpus=1, host_url=url)
    if is_one:
        node.clean()
    else:
        with pytest.raises(ValidationError, match="Write unix:///PATH"):
            node.clean()


def test_what_is_too_old_on_a_machine_is_told_to_admins(
    api: APIClient, admin_api: APIClient, pool: Pool
) -> None:
    old = "runc 1.1.4 is older than 1.1.12."
    pool.nodes.filter(name="node-1").update(memory_bytes=2**36, cpus=8, complaints=f"{old}\n{old}")
    told, told_admin = (client.get(URL).json()["items"][0] for client in (api, admin_api))
    assert (told["memory_bytes"], told["cpus"], told["complaints"]) == (2**36, 8, [])
    assert told_admin["complaints"] == [old, old]
