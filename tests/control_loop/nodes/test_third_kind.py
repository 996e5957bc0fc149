"""A third kind of worker hosts is a folder and a line of an extension; nothing of ours knows it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from cluster.admin import NodeForm
from cluster.in_memory_host import InMemoryHost
from cluster.installed_worker_hosts import ENTRY_POINT_GROUP
from cluster.models import Node, Pool
from cluster.worker_host import ProcessRole
from control_plane.configuration import environment
from control_plane.queries import notices
from control_plane.queries.pool_capacities import read_pools
from django.core.exceptions import ValidationError
from pytest_django import Settings

from autoscaler.control_loop import wiring
from tests.control_loop.nodes.test_gpu_discovery import ticks_until
from tests.control_loop.world import World
from tests.extension import distribution

ONE_LINE = "farm = tests.control_loop.nodes.farm_host.kind:FarmKind"
IMAGE = "registry.example/farm:1"
FARM = {
    "DATABASE_URL": "postgresql://u@h/d",
    "REDIS_URL": "redis://h",
    "CONCERTINA_SECRET_KEY": "k",
    "CONCERTINA_WORKER_HOST": "farm",
    "FARM_IMAGE": IMAGE,
}


@pytest.fixture(autouse=True)
def farm(
    world: World, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> environment.Environment:
    """The small world, whose service was told to have its jobs run by the extension's kind."""
    distribution(tmp_path, "concertina_farm", ONE_LINE, group=ENTRY_POINT_GROUP)
    monkeypatch.syspath_prepend(tmp_path)
    told = replace(environment.read(FARM), state_dir=tmp_path)
    settings.CONCERTINA = told
    Pool.objects.update(gpu_type="nvidia-h200")
    Node.objects.update(host_url="farm://north")
    return told


def test_it_runs_jobs_in_what_it_says_they_see_and_tells_of_its_nodes(world: World) -> None:
    host = wiring.new_worker_host()
    assert isinstance(host, InMemoryHost)
    world.host, world.environments = host, wiring.process_environments()
    ticks_until(world, lambda: Node.objects.get().gpu_uuids and Node.objects.get().cpus == 16)
    job = world.job()
    world.wish(job, 1)
    ticks_until(world, lambda: len(host.launches) == 2)
    by_role = {launch.labels.role: launch for launch in host.launches}
    worker = by_role[ProcessRole.WORKER]
    assert (worker.image, worker.env["CUDA_VISIBLE_DEVICES"]) == (IMAGE, "GPU-n1-0")
    assert worker.env["CONCERTINA_CHECKPOINT_DIR"] == f"/farm/{job.id}/checkpoints"
    assert by_role[ProcessRole.COORDINATOR].command[0] == "python3"


def test_a_nodes_url_is_called_and_checked_as_it_says() -> None:
    assert NodeForm().fields["host_url"].label == "farm URL"
    node = Node.objects.get()
    node.full_clean()
    node.host_url = "tcp://another:2376"
    with pytest.raises(ValidationError, match="Write farm://FIELD"):
        node.full_clean()


def test_jobs_may_name_images_and_nobody_is_warned_of_them() -> None:
    assert {pool.platform_image for pool in read_pools()} == {IMAGE}
    assert notices.current() == []


def test_what_it_refuses_stops_the_start() -> None:
    with pytest.raises(environment.BadEnvironment, match="FARM_IMAGE is not set"):
        environment.read({**FARM, "FARM_IMAGE": ""})


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ("ranch = no_such_module:Ranch", "no_such_module:Ranch cannot be loaded: Module"),
        ("ranch = pathlib:Path", "pathlib:Path is no class that inherits from"),
        ("rank = pathlib:Path", "use process or docker or [a-z]+ or [a-z]+"),
    ],
)
def test_a_kind_that_cannot_be_used_stops_the_start(
    entry: str, complaint: str, tmp_path: Path
) -> None:
    distribution(tmp_path, "concertina_ranch", entry, group=ENTRY_POINT_GROUP)
    with pytest.raises(environment.BadEnvironment, match=complaint):
        environment.read({**FARM, "CONCERTINA_WORKER_HOST": "ranch"})


def test_no_extension_takes_the_place_of_a_built_in_kind(tmp_path: Path) -> None:
    entry = "process = tests.control_loop.nodes.farm_host.kind:FarmKind"
    distribution(tmp_path, "concertina_usurper", entry, group=ENTRY_POINT_GROUP)
    told = environment.read({**FARM, "CONCERTINA_WORKER_HOST": "process"})
    assert told.worker_host.platform_image is None
