"""What is a process of a job told that runs in a container, and what does it see there?"""

from __future__ import annotations

import pytest
from cluster.docker_host.process_environments import ContainerEnvironments
from cluster.models import Node, Pool
from cluster.worker_host import Launch, Mount
from tenancy.models import ImageRule, Team

from jobs.models import Job
from tests.control_loop.world import World, fresh

IMAGE = "localhost/concertina-worker:test"


@pytest.fixture
def world(world: World) -> World:
    world.environments = ContainerEnvironments(
        state_dir=world.state_dir, service_url="http://api:8000", image=IMAGE
    )
    return world


def started(world: World, job: Job, *, workers: int = 2) -> list[Launch]:
    """The coordinator's launch and those of the workers."""
    world.wish(job, workers)
    world.tick()
    ids = [f"{job.id}-coordinator", *(f"{job.id}-1-{n}" for n in range(1, workers + 1))]
    return [world.host.launch_of(process_id) for process_id in ids]


def test_the_coordinator_has_one_name_and_one_port_in_every_job(world: World) -> None:
    jobs = [world.job("one"), world.job("two")]
    for job in jobs:
        coordinator, *workers = started(world, job)
        assert coordinator.alias == "coordinator"
        assert coordinator.env["CONCERTINA_LISTEN_ON"] == "0.0.0.0"  # noqa: S104 - its container's
        addresses = {launch.env["CONCERTINA_COORDINATOR"] for launch in (coordinator, *workers)}
        assert addresses == {"coordinator:29400"}
        assert all("CONCERTINA_LISTEN_ON" not in worker.env for worker in workers)
        assert fresh(job).coordinator_port == 29400


def test_the_coordinator_runs_the_platforms_image_whatever_the_job_names(world: World) -> None:
    ImageRule.objects.create(pattern="docker.io/vision/*")
    coordinator, worker = started(world, world.job(image="vision/train:7"), workers=1)
    assert (coordinator.image, worker.image) == (IMAGE, "docker.io/vision/train:7")
    assert coordinator.command == ("python", "-m", "concertina_worker.coordinator")
    assert coordinator.env["CONCERTINA_SERVICE_URL"] == "http://api:8000"
    assert coordinator.limits.memory_bytes == 512 * 2**20


def test_a_coordinator_reaches_the_api_as_its_node_does(world: World) -> None:
    Node.objects.update(service_url="https://concertina.example.com")
    coordinator, _ = started(world, world.job(), workers=1)
    assert coordinator.env["CONCERTINA_SERVICE_URL"] == "https://concertina.example.com"


def test_a_job_that_names_no_image_gets_the_platforms(world: World) -> None:
    _, worker = started(world, world.job(), workers=1)
    assert worker.image == IMAGE
    assert worker.command == ("python", "train.py")
    assert "PATH" not in worker.env, "the image knows its own"


def test_a_worker_sees_the_jobs_checkpoints_and_the_coordinator_its_own_state(
    world: World,
) -> None:
    job = world.job()
    coordinator, *workers = started(world, job)
    folder = world.state_dir / "jobs" / job.id
    for worker in workers:
        assert worker.mounts == (
            Mount(source=folder / "checkpoints", target="/checkpoints"),
            Mount(source=folder / "reports", target="/reports"),
            Mount(source=folder / "outputs", target="/outputs"),
        )
        assert worker.env["CONCERTINA_REPORT_FILE"].startswith("/reports/")
        assert worker.env["CONCERTINA_CHECKPOINT_DIR"] == "/checkpoints"
    assert coordinator.mounts == (Mount(source=folder / "coordinator", target="/coordinator"),)
    assert coordinator.env["CONCERTINA_STATE_DIR"] == "/coordinator"


def test_a_plain_script_finds_the_first_worker_by_its_name(world: World) -> None:
    job = world.job()
    _, first, second = started(world, job)
    for rank, worker in enumerate((first, second)):
        assert worker.alias == f"{job.id}-1-{rank + 1}"
        assert worker.env["MASTER_ADDR"] == first.alias
        assert worker.env["MASTER_PORT"] == "29500"
        assert worker.env["RANK"] == str(rank)
        assert (worker.env["LOCAL_RANK"], worker.env["LOCAL_WORLD_SIZE"]) == ("0", "1")
        assert "GLOO_SOCKET_IFNAME" not in worker.env


def test_a_folder_and_variables_of_the_spec_win(world: World) -> None:
    job = world.job(workdir="/app", env={"HOME": "/home/ada", "PATH": "/opt/bin"})
    _, worker = started(world, job, workers=1)
    assert worker.workdir == "/app"
    assert (worker.env["HOME"], worker.env["PATH"]) == ("/home/ada", "/opt/bin")


def test_workers_find_the_gate_to_the_hosts_of_their_team_where_it_is(world: World) -> None:
    job = world.job(network="listed", env={"https_proxy": "http://mine:1"})
    listed = {"network": "listed", "reachable": ["pypi.org:443", "*.example.com:443"]}
    Team.objects.filter(pk=job.team_id).update(**listed)
    coordinator, worker = started(world, job, workers=1)
    assert (coordinator.network, worker.network) == ("listed", "listed")
    assert coordinator.env["CONCERTINA_REACHABLE"] == "pypi.org:443,*.example.com:443"
    assert worker.env["HTTPS_PROXY"] == "http://coordinator:29600"
    assert worker.env["https_proxy"] == "http://mine:1", "a job may have its own way"
    assert "CONCERTINA_REACHABLE" not in worker.env


@pytest.mark.parametrize(("of_team", "asked"), [("egress", "listed"), ("listed", None)])
def test_a_gate_leads_nowhere_once_the_list_was_taken_away_and_is_for_who_asks(
    world: World, of_team: str, asked: str | None
) -> None:
    job = world.job(network=asked)
    Team.objects.filter(pk=job.team_id).update(network=of_team, reachable=["pypi.org:443"])
    coordinator, worker = started(world, job, workers=1)
    assert coordinator.env.get("CONCERTINA_REACHABLE") == ("" if asked else None)
    assert ("HTTPS_PROXY" in worker.env) is bool(asked)


def test_the_token_is_kept_from_whoever_looks_at_the_container(world: World) -> None:
    coordinator, worker = started(world, world.job(), workers=1)
    assert set(worker.secret_env) == {"CONCERTINA_TOKEN"}
    assert set(coordinator.secret_env) == {"CONCERTINA_TOKEN", "CONCERTINA_SERVICE_TOKEN"}
    for launch in (coordinator, worker):
        assert not launch.secret_env.keys() & launch.env.keys()


def test_limits_are_those_of_the_spec(world: World) -> None:
    resources = {"memory": "4GiB", "cpus": 2, "shm_size": "1GiB"}
    _, worker = started(world, world.job(resources=resources), workers=1)
    assert (worker.limits.memory_bytes, worker.limits.cpus) == (4 * 2**30, 2)
    assert worker.limits.shm_bytes == 2**30


def test_a_spec_without_memory_has_the_share_of_its_gpus(world: World) -> None:
    node = Node.objects.get()
    spec = {"gpus_per_worker": 2}
    _, worker = started(world, world.job(resources=spec), workers=1)
    assert (worker.limits.memory_bytes, worker.limits.node_share) == (None, 2 / node.gpus)
    Node.objects.create(pool=node.pool, name="on-the-same-machine", gpus=node.gpus)
    Node.objects.create(pool=node.pool, name="other", gpus=1, host_url="tcp://other:2376")
    assert node.share_of_machine(2) == 1 / node.gpus


def test_gpus_are_numbered_anew_in_a_container_and_uuids_stay(world: World) -> None:
    Pool.objects.update(gpu_type="nvidia-h100")
    _, first, second = started(world, world.job("one"))
    assert (first.gpu_names, second.gpu_names) == (("0",), ("1",))
    assert second.env["CUDA_VISIBLE_DEVICES"] == "0"
    Node.objects.update(gpu_uuids=["GPU-aa", "GPU-bb", "GPU-cc", "GPU-dd"])
    _, third = started(world, world.job("two"), workers=1)
    assert third.gpu_names == ("GPU-cc",)
    assert third.env["CUDA_VISIBLE_DEVICES"] == "GPU-cc"


def test_slots_are_no_gpus(world: World) -> None:
    _, worker = started(world, world.job(), workers=1)
    assert (worker.gpu_indices, worker.gpu_names) == ((0,), ())
    assert worker.env["CUDA_VISIBLE_DEVICES"] == ""
