"""The home of a team's user goes with the team, and is never taken for that of a later one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from cluster.models import Node
from cluster.process_host.process_environments import MachineEnvironments
from cluster.process_host.users.team_users import TeamUsers
from cluster.worker_host import ProcessRole
from tenancy.models import Team

from jobs.commands.removal import team_deletion
from jobs.models import Job, Worker
from jobs.worker_phase import WorkerPhase
from tests.control_loop.world import World

USERS = TeamUsers(first=400_000, last=499_999)


@pytest.fixture
def world(world: World) -> World:
    assert isinstance(world.environments, MachineEnvironments)
    return replace(world, environments=replace(world.environments, team_users=USERS))


def home(world: World, team_id: int, role: ProcessRole = ProcessRole.WORKER) -> Path:
    """As one was left behind, with something in it."""
    folder = world.state_dir / "homes" / str(USERS.of(team_id, role))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "token").write_text("of whoever was here")
    return folder


def trained(world: World, team: Team) -> Job:
    now = world.clock()
    job = world.job()
    Job.objects.filter(pk=job.pk).update(team=team, state="completed", finished_at=now)
    Worker.objects.create(
        id=f"{job.pk}-1-0",
        job=job,
        attempt=1,
        node=Node.objects.get(),
        phase=WorkerPhase.GONE,
        gone_at=now,
    )
    return job


def test_the_home_of_a_team_that_trained_stays(world: World) -> None:
    vision = Team.objects.get(name="vision")
    trained(world, vision)
    homes = [home(world, vision.pk), home(world, vision.pk, ProcessRole.COORDINATOR)]
    world.tick(2)
    assert all((one / "token").exists() for one in homes)


def test_the_homes_of_a_deleted_team_go_with_it(world: World) -> None:
    vision = Team.objects.get(name="vision")
    trained(world, vision)
    homes = [home(world, vision.pk), home(world, vision.pk, ProcessRole.COORDINATOR)]
    team_deletion.delete_team(vision)
    world.tick()
    assert not any(one.exists() for one in homes)


def test_a_new_team_does_not_find_the_home_of_a_lost_one(world: World) -> None:
    """An older database was put in place, and gives the number of a lost team out again."""
    newcomer = Team.objects.create(name="newcomer")
    left = home(world, newcomer.pk)
    job = world.job()
    Job.objects.filter(pk=job.pk).update(team=newcomer)
    world.wish(job, 1)
    world.tick()
    assert world.host.launches
    assert not left.exists()


def test_what_is_no_home_of_a_team_is_left_alone(world: World) -> None:
    homes = world.state_dir / "homes"
    for name in ("ada", ".discarded", "399999", "500000"):
        (homes / name).mkdir(parents=True)
    world.tick()
    assert {path.name for path in homes.iterdir()} == {"ada", ".discarded", "399999", "500000"}


def test_without_users_of_teams_no_home_is_touched(world: World) -> None:
    assert isinstance(world.environments, MachineEnvironments)
    world = replace(world, environments=replace(world.environments, team_users=None))
    left = home(world, 9999)
    world.tick()
    assert (left / "token").exists()
