"""Is a worker's share of its node's memory the most that a job may ask for?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Node, Pool
from pytest_django import Settings
from rest_framework.test import APIClient

from tests.service.conftest import in_docker, spec

GIB = 1 << 30


@pytest.fixture(autouse=True)
def containers(settings: Settings, pool: Pool) -> None:
    """Nodes of 4 GPUs whose machines have 40 and 80 GiB, in containers."""
    in_docker(settings)
    for name, gibibytes in (("node-1", 40), ("node-2", 80)):
        machine = {"host_url": f"tcp://{name}:2376", "memory_bytes": gibibytes * GIB}
        Node.objects.filter(name=name).update(**machine)


def validated(client: APIClient, **resources: Any) -> Any:
    asked = spec(resources=resources)
    return client.post("/api/v1/jobs:validate", asked, format="json").json()["problems"]


def test_more_than_the_smallest_share_is_refused_with_the_number(api: APIClient) -> None:
    assert validated(api, memory="9GiB") == []
    (problem,) = validated(api, memory="10GiB")
    assert (problem["field"], problem["value"]) == ("resources.memory", "10GiB")
    assert problem["problem"] == (
        "is more than 9216MiB, the share of a worker with 1 of the 4 GPUs of node node-1"
    )
    assert "more resources.gpus_per_worker" in problem["remedy"]


def test_a_worker_with_more_gpus_may_have_more_memory(api: APIClient) -> None:
    assert validated(api, memory="18GiB", gpus_per_worker=2) == []
    (problem,) = validated(api, memory="19GiB", gpus_per_worker=2)
    assert "2 of the 4 GPUs" in problem["problem"]


def test_nodes_that_are_one_machine_share_its_memory(api: APIClient) -> None:
    Node.objects.update(host_url="tcp://both:2376", memory_bytes=80 * GIB)
    (problem,) = validated(api, memory="10GiB")
    assert "1 of the 8 GPUs" in problem["problem"]


def test_what_nobody_knows_is_no_cap(api: APIClient) -> None:
    Node.objects.update(memory_bytes=None)
    assert validated(api, memory="900GiB") == []
