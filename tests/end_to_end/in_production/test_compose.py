"""`docker-compose.yml`, brought up: jobs train, processes come back, nobody reaches too far."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.end_to_end.in_production.composed import SECRET, SERVICES, Composed
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import REGISTRATION, until
from tools.images.catalogue import POSTGRES

pytestmark = pytest.mark.timeout(1800)
STOP = "/checkpoints/stop"
REACH = """
import json, socket, sys
from concurrent.futures import ThreadPoolExecutor
def is_reached(address):
    try:
        socket.create_connection(address, timeout=8).close()
    except OSError:
        return False
    return True
addresses = json.loads(sys.argv[1])
with ThreadPoolExecutor(len(addresses)) as pool:
    found = pool.map(is_reached, map(tuple, addresses))
    print("reached", json.dumps([one for one, is_there in zip(addresses, found) if is_there]))
"""
SCRIPT = (Path(__file__).parents[1] / "scripts" / "sleepy_regression.py").read_text()


@pytest.fixture(scope="module")
def team(composed: Composed, vision_token: str) -> Iterator[httpx.Client]:
    with composed.client(vision_token) as client:
        yield client


def test_a_job_trains_to_its_end_though_the_control_worker_is_killed_meanwhile(
    composed: Composed, team: httpx.Client
) -> None:
    job = SubmittedJob.submit(
        team,
        {
            "name": "line",
            "command": ["python", "-c", SCRIPT, "--samples", "100", "--stop-file", STOP],
            "elastic": {
                "min_workers": 1,
                "max_workers": 1,
                "mode": "hot",
                "registration_timeout": REGISTRATION,
            },
            "batch": {"global_batch_size": {"base": 8, "min": 8, "max": 8}},
        },
    )
    until(lambda: job.trains_with(1), what="the job trains")
    before = composed.container("control")
    composed.kill("control")
    until(
        lambda: composed.container("control")["RestartCount"] > before["RestartCount"],
        what="the control worker is back",
    )
    (composed.checkpoints(job.job_id) / Path(STOP).name).touch()
    until(lambda: job.is_in("completed"), what="the job is completed")
    for service in SERVICES:
        until(lambda service=service: composed.is_well(service), what=f"{service} is well")


def test_a_job_reaches_neither_database_nor_redis_nor_api(
    composed: Composed, team: httpx.Client
) -> None:
    """By name and by number, where the api reaches them all."""
    ports = {"postgres": 5432, "redis": 6379, "api": 8000}
    services = [[host, ports[name]] for name in ports for host in composed.addresses(name)]
    command = ["python", "-c", REACH, json.dumps(services)]
    assert composed.in_container("api", *command) == f"reached {json.dumps(services)}"
    job = SubmittedJob.submit(team, {"name": "prober", "command": command, "max_restarts": 0})
    until(lambda: job.is_in("completed"), what="it has tried")
    assert job.log_lines() == ["reached []"]


def test_only_the_control_worker_may_talk_to_docker_and_nobody_is_root(composed: Composed) -> None:
    for service in SERVICES:
        container = composed.container(service)
        binds = {mount["Destination"] for mount in container["Mounts"]}
        assert ("/var/run/docker.sock" in binds) == (service == "control")
        assert container["Config"]["User"] == "10001:10001"
        assert container["HostConfig"]["ReadonlyRootfs"]
        assert container["HostConfig"]["CapDrop"] == ["ALL"]
        assert container["HostConfig"]["Memory"] > 0
    assert composed.container("postgres")["Config"]["User"] == "999"


ALSO = ("postgres", "redis", "roles", "migrate")
OF_SIGNERS = {"secret_key", "secret_key_fallbacks"}
SECRETS = {
    "api": {"database_url_api", *OF_SIGNERS},
    "beat": set(),
    "control": {"database_url_control", *OF_SIGNERS},
    "io": {"database_url_io", *OF_SIGNERS},
}


def test_each_service_has_a_role_of_its_own_and_no_secret_that_it_does_not_need(
    composed: Composed,
) -> None:
    for service, expected in SECRETS.items():
        mounts = composed.container(service)["Mounts"]
        places = {Path(mount["Destination"]) for mount in mounts}
        found = {place.name for place in places if place.parent == Path("/run/secrets")}
        assert found == expected, service

    def connected() -> set[str]:
        told = composed.in_container(
            *("postgres", "psql", "-U", "concertina", "-qAtc"),
            "SELECT DISTINCT usename FROM pg_stat_activity WHERE datname = current_database()"
            " AND usename <> current_user ORDER BY usename",
        )
        assert set(told.split()) <= {"concertina_api", "concertina_control", "concertina_io"}
        return set(told.split())

    until(lambda: composed.answers() and "concertina_api" in connected(), what="api is connected")


def test_the_api_sees_what_jobs_leave_behind_and_none_of_their_secrets(composed: Composed) -> None:
    seen = composed.in_container("api", "ls", str(composed.data)).split()
    assert seen == ["code", "jobs", "logs"]
    mounts = composed.container("api")["Mounts"]
    written = {mount["Destination"] for mount in mounts if mount["RW"]}
    assert str(composed.data / "code") in written
    assert not {str(composed.data / name) for name in ("jobs", "logs")} & written


def test_a_database_that_only_makes_its_files_is_not_well(composed: Composed) -> None:
    """As the official image's first start, whose temporary server listens on its socket alone."""
    made = composed.docker(
        *("run", "--detach", "--env=POSTGRES_USER=concertina", "--env=POSTGRES_DB=concertina"),
        "--env=POSTGRES_PASSWORD_FILE=/run/secrets/postgres_password",
        *("--volume", f"{composed.folder}/secrets:/run/secrets:ro"),
        *(POSTGRES.tag, "start-postgres", "-c", "listen_addresses="),
    )
    _, *check = composed.container("postgres")["Config"]["Healthcheck"]["Test"]
    composed.docker("exec", composed.container("postgres")["Id"], *check)

    def answers_on_its_socket() -> bool:
        said = composed.docker("exec", made, "sh", "-c", "pg_isready --quiet; echo $?")
        return said == "0"

    try:
        until(answers_on_its_socket, what="it answers on its socket")
        with pytest.raises(AssertionError):
            composed.docker("exec", made, *check)
    finally:
        composed.docker("rm", "--force", "--volumes", made)


@pytest.mark.usefixtures("vision_token")
@pytest.mark.thorough
def test_a_backup_is_the_way_back_from_an_upgrade(composed: Composed) -> None:
    def sql(text: str) -> str:
        return composed.in_container("postgres", "psql", "-U", "concertina", "-qAtc", text)

    composed.as_told("Backup", service="postgres")
    sql("CREATE TABLE added_by_a_migration (team bigint REFERENCES tenancy_team)")
    sql("UPDATE tenancy_team SET name = 'renamed'")
    composed.compose("stop", *SERVICES)
    composed.as_told("Restore", service="postgres")
    assert sql("SELECT name FROM tenancy_team") == "vision"
    assert sql("SELECT to_regclass('added_by_a_migration')") == ""
    composed.compose("up", "--detach", "--no-build")
    until(composed.answers, what="the service is well")


def test_no_secret_is_seen_by_who_may_look_at_containers(composed: Composed) -> None:
    every = [composed.container(service)["Id"] for service in (*SERVICES, *ALSO)]
    assert SECRET not in composed.docker("inspect", *every)


def test_coordinators_share_a_network_with_the_api_and_neither_database_nor_redis(
    composed: Composed,
) -> None:
    """Coordinators of jobs that have just ended leave it a moment later."""
    api = composed.container("api")["Name"].lstrip("/")
    until(lambda: members(composed) == {api}, what="nobody but the api is on it")
    (network,) = json.loads(composed.docker("network", "inspect", composed.network))
    assert network["Internal"]
    assert network["Options"]["com.docker.network.bridge.inhibit_ipv4"] == "true"


def members(composed: Composed) -> set[str]:
    (network,) = json.loads(composed.docker("network", "inspect", composed.network))
    return {member["Name"] for member in network["Containers"].values()}
