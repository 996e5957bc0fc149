"""What does `--host ray` start beside the service, and what does the service know of it?"""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.ray_host.kind import RayKind
from control_plane.configuration import environment
from local_stack import checkout as checkouts
from local_stack import gpus, secrets_file
from local_stack.gpus import Supply
from local_stack.processes import own_ray
from local_stack.processes.own_ray import PORTS_OF_HELPERS, NoRay, OwnRay
from local_stack.stack import preparation
from local_stack.stack.service import StackService


@pytest.fixture
def cluster(folder: Path) -> Iterator[OwnRay]:
    checkout = checkouts.find(home=folder / "state")
    checkout.make_folders()
    yield OwnRay(checkout=checkout, port=7001)
    shutil.rmtree(checkout.runtime_dir)


def test_the_service_is_told_where_its_cluster_is(cluster: OwnRay) -> None:
    cluster.token_file.write_text("token")
    secrets = secrets_file.load_or_create(cluster.checkout)
    service = StackService(
        checkout=cluster.checkout, secrets=secrets, port=8100, tick_seconds=1.0, ray=cluster
    )
    told = environment.read(service.environment()).worker_host
    assert isinstance(told, RayKind)
    assert (told.address, told.token_file) == ("127.0.0.1:7001", cluster.token_file)
    assert (told.team_users is None) == bool(service.why_jobs_are_trusted())
    if os.geteuid() != 0:
        assert "token" in service.why_jobs_are_trusted()


def test_nodes_bear_the_names_that_the_service_gives_them_and_the_head_gives_nothing(
    cluster: OwnRay,
) -> None:
    supply = gpus.shared_out(Supply(slots=4), nodes=own_ray.NODES)
    names = preparation.names_of_nodes(supply)
    head, *nodes = cluster.specs(names, slots=supply.slots // supply.nodes, has_gpus=False)
    assert {"--head", "--port=7001", "--num-cpus=0", "--num-gpus=0"} <= {*head.command}
    assert [node.name for node in nodes] == ["ray-default-1", "ray-default-2"]
    for node, name in zip(nodes, names, strict=True):
        label = f"--labels=concertina.io/node={name}"
        assert {label, "--address=127.0.0.1:7001", "--num-cpus=2"} <= {*node.command}
    ports = ["7001"]
    for one in (head, *nodes):
        assert "--block" in one.command
        told = {word.partition("=")[0]: word for word in one.command}
        ports += [told[f"--{helper}"].partition("=")[2] for helper in PORTS_OF_HELPERS]
        assert one.environment["RAY_AUTH_MODE"] == "token"
    assert len(ports) == len({*ports}) == 13


@pytest.mark.parametrize(
    ("slots", "uuids", "nodes", "all_slots"),
    [(4, (), 2, 4), (5, (), 2, 6), (1, (), 1, 1), (2, ("GPU-a", "GPU-a"), 1, 2)],
)
def test_slots_are_shared_out_and_gpus_stay_together(
    slots: int, uuids: tuple[str, ...], nodes: int, all_slots: int
) -> None:
    shared = gpus.shared_out(Supply(slots=slots, uuids=uuids), nodes=2)
    assert (shared.nodes, shared.slots, shared.uuids) == (nodes, all_slots, uuids)


def test_a_node_is_up_when_ray_says_so_since_it_was_started(cluster: OwnRay) -> None:
    log = cluster.checkout.logs_dir / "ray-head.log"
    log.write_text("Ray runtime started.\n")  # of the run before
    head = next(cluster.specs((), slots=1, has_gpus=False))
    assert not head.is_ready()
    with log.open("a") as written:
        written.write("Local node IP: 127.0.0.1\n")
    assert not head.is_ready()
    with log.open("a") as written:
        written.write("Ray runtime started.\n")
    assert head.is_ready()


def test_its_token_is_made_once_for_our_eyes_only_and_without_ray_it_says_how_to_get_it(
    cluster: OwnRay,
) -> None:
    if importlib.util.find_spec("ray") is None:
        with pytest.raises(NoRay, match=r"requirements-ray\.lock"):
            own_ray.prepare(cluster.checkout, preferred_port=8100)
        return
    made = own_ray.prepare(cluster.checkout, preferred_port=8100)
    token = made.token_file.read_text()
    assert len(token) == 64
    assert stat.S_IMODE(made.token_file.stat().st_mode) == 0o600
    assert own_ray.prepare(cluster.checkout, preferred_port=8100).token_file.read_text() == token
