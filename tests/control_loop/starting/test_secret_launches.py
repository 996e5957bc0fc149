"""Do workers get what their job's secrets hold, nobody else, and is a lost secret told?"""

from __future__ import annotations

import pytest
from cluster.docker_host.process_environments import ContainerEnvironments
from tenancy.models import ImageRule, Secret, Team
from tenancy.secrets import team_secrets
from tenancy.secrets.values import SecretVariables, registry_login

from jobs.models import Assignment, Event
from tests.control_loop.world import World, fresh, kinds, live_workers, states

CANARY = "canary-61f0"


@pytest.fixture(autouse=True)
def kept(world: World) -> None:
    team = Team.objects.get(name="vision")
    content = SecretVariables(values={"KEY": CANARY, "RANK": "7"})
    team_secrets.put(team=team, name="wandb", content=content, by="tests")


def test_workers_get_the_secrets_their_job_names_beside_its_environment(world: World) -> None:
    job, other = world.job("names", secrets=["wandb"]), world.job("others")
    for one in (job, other):
        world.wish(one, 1)
    world.tick()
    worker = world.host.launch_of(f"{job.id}-1-1")
    assert worker.secret_env["KEY"] == CANARY
    assert "KEY" not in worker.env
    assert "RANK" not in worker.secret_env, "that one is the platform's"
    assert CANARY not in repr(worker)
    assert "KEY" not in world.host.launch_of(f"{job.id}-coordinator").secret_env
    assert "KEY" not in world.host.launch_of(f"{other.id}-1-1").secret_env


def test_a_job_whose_secret_is_gone_fails_once_and_says_so(world: World) -> None:
    job = world.job(secrets=["wandb"])
    Secret.objects.all().delete()
    world.wish(job, 1)
    world.tick(4)
    assert states(job) == ["starting", "stopping", "failed"]
    failed = fresh(job)
    assert failed.reason == "secret_unavailable"
    assert failed.message == "Secret wandb of team vision was deleted."


def test_a_job_whose_secret_cannot_be_decrypted_fails_and_says_what_to_do(world: World) -> None:
    job = world.job(secrets=["wandb"])
    Secret.objects.update(sealed="of another key")
    world.wish(job, 1)
    world.tick(4)
    assert fresh(job).state == "failed"
    assert "Set the secret again." in fresh(job).message
    assert CANARY not in str(list(Event.objects.values()))


def test_a_job_that_trains_goes_on_without_a_worker_whose_secret_is_gone(world: World) -> None:
    job = world.job(secrets=["wandb"])
    coordinator = world.running(job, 1)
    Secret.objects.all().delete()
    world.wish(job, 2)
    world.tick()
    world.planner.wishes.clear()
    world.tick()
    coordinator.train()
    world.tick()
    assert fresh(job).state == "running"
    assert live_workers(job) == [f"{job.id}-1-1"]
    event = Event.objects.get(job=job, kind="worker_not_started")
    assert event.reason == "secret_unavailable"
    assert event.message.endswith("could not be started: Secret wandb of team vision was deleted.")
    assert (fresh(job).failures, fresh(job).losses) == (0, 0)
    assert Assignment.objects.filter(job=job).latest("revision").message == (
        f"{job.id}-1-2 ended before it joined (Secret wandb of team vision was deleted); 1 goes on."
    )


def test_a_worker_that_was_never_started_makes_no_loss_of_the_failure_of_the_last_one(
    world: World,
) -> None:
    job = world.job(secrets=["wandb"])
    world.running(job, 2)
    world.wish(job, 3)
    world.tick()
    done, last, newcomer = live_workers(job)
    Secret.objects.all().delete()
    world.host.lose(newcomer)  # before it could register, so it is to be started anew
    world.host.exit(done, 0)
    world.tick()
    assert live_workers(job) == [last]
    world.host.exit(last, 1)
    world.tick()
    assert "all_workers_lost" not in kinds(job)
    found = fresh(job)
    assert (found.reason, found.attempt, found.failures, found.losses) == ("restarting", 2, 1, 0)


PRIVATE = "registry.local/vision/train:1"


@pytest.fixture
def in_containers(world: World) -> World:
    """Jobs run in containers, and team vision may run images of a private registry."""
    world.environments = ContainerEnvironments(
        state_dir=world.state_dir,
        service_url="http://api:8000",
        image="localhost/concertina-worker:test",
    )
    team = Team.objects.get(name="vision")
    ImageRule.objects.create(team=team, pattern="registry.local/vision/*")
    login = registry_login(registry="registry.local", username="u", password=CANARY)
    team_secrets.put(team=team, name="images", content=login, by="tests")
    return world


def test_workers_are_fetched_with_the_login_of_their_registry_alone(in_containers: World) -> None:
    private, plain = in_containers.job("private", image=PRIVATE), in_containers.job("plain")
    for one in (private, plain):
        in_containers.wish(one, 1)
    in_containers.tick()
    worker = in_containers.host.launch_of(f"{private.id}-1-1")
    (login,) = worker.registry_logins
    assert (login.registry, login.username, login.password) == ("registry.local", "u", CANARY)
    assert CANARY not in repr(worker)
    assert in_containers.host.launch_of(f"{private.id}-coordinator").registry_logins == ()
    assert in_containers.host.launch_of(f"{plain.id}-1-1").registry_logins == ()


def test_what_was_checked_is_what_is_run(in_containers: World) -> None:
    ImageRule.objects.create(pattern="docker.io/library/*")
    job = in_containers.job(image="deadbeef")
    in_containers.wish(job, 1)
    in_containers.tick()
    worker = in_containers.host.launch_of(f"{job.id}-1-1")
    assert worker.image == "docker.io/library/deadbeef:latest", "no id of an image on the node"


def test_a_waiting_job_fails_when_its_rule_was_taken_away(in_containers: World) -> None:
    job = in_containers.job(image=PRIVATE)
    ImageRule.objects.all().delete()
    in_containers.wish(job, 1)
    in_containers.tick(4)
    assert states(job) == ["starting", "stopping", "failed"]
    assert fresh(job).reason == "image_unavailable"
    assert "is not among the images that team vision may use" in fresh(job).message


def test_a_running_job_goes_on_and_grows_when_its_rule_was_taken_away(in_containers: World) -> None:
    job = in_containers.job(image=PRIVATE)
    in_containers.running(job, 1)
    ImageRule.objects.all().delete()
    in_containers.wish(job, 2)
    in_containers.tick(2)
    assert in_containers.running_processes() == {"digits": 2}
