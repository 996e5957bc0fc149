"""What does a container find of its data, its code and its start, fetched by real ticks?

A store, a repository and Docker are real ones on this machine; the job has no network of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from storage.data.destinations import Destination
from storage.data.rules import DataRules
from storage.models import DataSource, HeldCheckpoint
from tenancy.models import Team
from tenancy.secrets import team_secrets
from tenancy.secrets.values import variables

from tests.control_loop.real_hosts.test_with_containers import Ship, clock, ship
from tests.control_loop.results.test_starting_from_jobs import checkpoints_of
from tests.control_loop.world import fresh, live_workers
from tests.git_server import GitServer, git_server
from tests.left_checkpoints import leave, weights_of
from tests.object_store import CREDENTIAL, ObjectStore, noise, object_store

__all__ = ["clock", "ship"]  # fixtures

TRAIN = noise(200_000, "in containers")
SCRIPT = """\
cat "$CONCERTINA_DATA_DIGITS/train.bin" | sha256sum
cat "$CONCERTINA_START_FROM/model.safetensors" | sha256sum
for folder in "$CONCERTINA_DATA_DIGITS" "$CONCERTINA_START_FROM" /code; do
  touch "$folder/mine" 2> /dev/null && echo "wrote to $folder" || echo "only reads $folder"
done
env | grep -c -e AWS_ -e GIT_ || true
pwd
"""


@pytest.fixture
def store() -> Iterator[ObjectStore]:
    with object_store() as found:
        found.put("digits/train.bin", TRAIN)
        yield found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    (tmp_path / "repositories").mkdir()
    with git_server(tmp_path / "repositories") as found:
        yield found


def test_data_of_a_store_code_of_git_and_a_start_are_in_the_container_to_read(
    ship: Ship, store: ObjectStore, server: GitServer
) -> None:
    world, team = ship.world, Team.objects.get(name="vision")
    here = (store.address, f"127.0.0.1:{server.port}")
    networks = tuple(Destination.parse(one) for one in here)
    ship.loop = replace(
        ship.loop, data_rules=DataRules(state_dir=world.state_dir, networks=networks)
    )
    team_secrets.put(team=team, name="s3", content=variables(CREDENTIAL), by="ada")
    place = {"url": "s3://datasets/digits", "endpoint": store.endpoint}
    DataSource.objects.create(
        name="digits", kind="object_store", place={**place, "secret": "s3", "team": "vision"}
    ).teams.add(team)
    commit = server.commit("code.git", {"src/train.sh": SCRIPT})
    source = world.job("source")
    leave(checkpoints_of(world, source), 20, weights=weights_of(1.0))
    (weights,) = checkpoints_of(world, source).glob("*.safetensors")
    job = ship.job(
        ". ./train.sh",
        data=[{"source": "digits"}],
        code={"git": {"url": server.url("code.git"), "path": "src"}},
        start_from={"job": source.id, "step": 20, "what": "weights"},
    )
    HeldCheckpoint.objects.create(
        for_job=job.id,
        source_job=source.id,
        step=20,
        names={weights.name: "model.safetensors"},
        digest="0" * 64,
        due_at=world.clock(),
    )
    try:
        ship.tick_until(lambda: fresh(job).state == "completed")
        said = [
            f"{hashlib.sha256(TRAIN).hexdigest()}  -",
            f"{hashlib.sha256(weights_of(1.0)).hexdigest()}  -",
            "only reads /data/digits",
            "only reads /start",
            "only reads /code",
            "0",
            "/code",
        ]
        ship.tick_until(lambda: ship.texts(job) == said)  # the log may come a moment later
    finally:
        world.arrivals.fetches.close()
        world.code_arrivals.fetches.close()
    assert fresh(job).resolved_spec["code"]["git"]["commit"] == commit
    assert [*fresh(job).data_versions] == ["digits"]
    assert live_workers(job) == []
