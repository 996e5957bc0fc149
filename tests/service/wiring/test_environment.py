"""Is every variable of the service read, and each mistake named with what to do?"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from cluster.docker_host.kind import DockerKind
from cluster.process_host import user_settings
from cluster.process_host.kind import ProcessKind
from cluster.process_host.process_environments import MachineEnvironments
from cluster.process_host.users.team_users import TeamUsers
from cluster.worker_host import ProcessRole
from control_plane.configuration import environment
from control_plane.configuration.environment import BadEnvironment
from local_stack.checkout import ROOT

from autoscaler.job_network import JobNetwork
from jobs.admission.disk_limits import DiskLimits

GOOD = {
    "DATABASE_URL": "postgresql://u@h/d",
    "REDIS_URL": "redis://h",
    "CONCERTINA_SECRET_KEY": "k",
}
IN_CONTAINERS = {
    **GOOD,
    "CONCERTINA_WORKER_HOST": "docker",
    "CONCERTINA_INTERNAL_URL": "http://api:8000",
}


def in_containers(**changes: str) -> DockerKind:
    kind = environment.read({**IN_CONTAINERS, **changes}).worker_host
    assert isinstance(kind, DockerKind)
    return kind


def team_users(told: environment.Environment) -> TeamUsers | None:
    environments = told.worker_host.process_environments(told)
    assert isinstance(environments, MachineEnvironments)
    return environments.team_users


def complaint(**changes: str) -> str:
    with pytest.raises(environment.BadEnvironment) as caught:
        environment.read({**IN_CONTAINERS, **changes})
    return str(caught.value)


def test_a_process_that_signs_nothing_needs_no_key_and_has_one_of_no_use() -> None:
    without = {name: value for name, value in GOOD.items() if name != "CONCERTINA_SECRET_KEY"}
    told = environment.read({**without, "CONCERTINA_SIGNS": "no"})
    assert len(told.secret_key) > 50
    assert told.secret_key != environment.read({**GOOD, "CONCERTINA_SIGNS": "no"}).secret_key


def test_whoever_adds_webhooks_and_sends_to_them_knows_of_the_mail_server_in_production() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    for name in ("SERVER", "FROM", "PASSWORD"):
        variable = f"CONCERTINA_MAIL_{name}"
        told = {one for one, made in services.items() if variable in made.get("environment", {})}
        assert told == {"api", "io"}
        assert f"\n#{variable}=" in (ROOT / ".env.example").read_text()


def test_jobs_are_processes_unless_containers_are_asked_for() -> None:
    assert isinstance(environment.read(GOOD).worker_host, ProcessKind)
    assert isinstance(environment.read(IN_CONTAINERS).worker_host, DockerKind)
    assert complaint(CONCERTINA_WORKER_HOST="podman") == (
        "CONCERTINA_WORKER_HOST='podman': use process or docker or ray or simulated."
    )


def test_containers_have_defaults_that_need_nothing_said() -> None:
    told = in_containers(CONCERTINA_HOST_ID="here")
    assert told.docker_url == "unix:///var/run/docker.sock"
    assert told.docker_certs is None
    assert told.worker_image.startswith("localhost/concertina-worker:")
    assert told.job_network is JobNetwork.ISOLATED
    assert told.coordinator_network == "concertina-here-coordinators"
    assert 0 not in told.job_user
    assert told.pids_limit == 4096


def test_all_of_it_can_be_said(tmp_path: Path) -> None:
    told = in_containers(
        CONCERTINA_DOCKER_URL="ssh://me@node",
        CONCERTINA_DOCKER_CERTS=str(tmp_path),
        CONCERTINA_WORKER_IMAGE="registry:5000/worker@sha256:ab",
        CONCERTINA_JOB_USER="1234:99",
        CONCERTINA_JOB_NETWORK="egress",
        CONCERTINA_COORDINATOR_NETWORK="backend",
        CONCERTINA_PIDS_LIMIT="500",
    )
    assert (told.docker_url, told.docker_certs) == ("ssh://me@node", tmp_path)
    assert (told.worker_image, told.job_user) == ("registry:5000/worker@sha256:ab", (1234, 99))
    assert (told.job_network, told.coordinator_network) == (JobNetwork.EGRESS, "backend")
    assert told.pids_limit == 500


def test_what_a_job_may_write_is_told_in_gibibytes() -> None:
    told = environment.read(
        {
            **GOOD,
            "CONCERTINA_JOB_DISK_GB": "7",
            "CONCERTINA_MOST_JOB_DISK_GB": "9",
            "CONCERTINA_TEAM_DISK_GB": "20",
            "CONCERTINA_JOB_FILES": "5000",
        }
    ).disk_limits
    assert told == DiskLimits(
        usual_bytes=7 << 30, most_bytes=9 << 30, most_files=5000, team_bytes=20 << 30
    )


@pytest.mark.parametrize(
    ("text", "size"),
    [("209715200", 200 << 20), ("200MB", 200_000_000), ("100 GiB", 100 << 30), ("", 100 << 30)],
)
def test_a_size_is_bytes_or_has_a_unit(text: str, size: int) -> None:
    assert environment.read({**GOOD, "CONCERTINA_CACHE_BYTES": text}).cache_bytes == size


def test_folders_of_data_have_commas_between() -> None:
    told = environment.read({**GOOD, "CONCERTINA_DATA_FOLDERS": "/srv/data, /mnt/nfs,"})
    assert told.data_rules.folders == (Path("/srv/data"), Path("/mnt/nfs"))
    assert told.data_rules.are_nodes_here


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("CONCERTINA_DOCKER_URL", "/var/run/docker.sock", "use unix:///var/run/docker.sock"),
        ("CONCERTINA_DOCKER_CERTS", "/nowhere/certs", "Make it"),
        ("CONCERTINA_JOB_USER", "nobody", "the numbers of a user and a group"),
        ("CONCERTINA_JOB_USER", "0:0", "never run as root"),
        ("CONCERTINA_JOB_USER", "1000", "such as 10001:10001"),
        ("CONCERTINA_JOB_NETWORK", "open", "use isolated or egress"),
        ("CONCERTINA_WORKER_IMAGE", "concertina/worker:1", "localhost/concertina/worker:1"),
        ("CONCERTINA_WORKER_IMAGE", "python", "registry.example.com/python"),
        ("CONCERTINA_PIDS_LIMIT", "none", "a whole number from 16"),
        ("CONCERTINA_PIDS_LIMIT", "3", "a whole number from 16"),
        ("CONCERTINA_PROCESS_LOG_MB", "0", "a whole number from 1"),
        ("CONCERTINA_JOB_LOG_MB", "63", "Use that or more"),
        ("CONCERTINA_JOB_DISK_GB", "0", "a whole number from 1"),
        ("CONCERTINA_MOST_JOB_DISK_GB", "49", "Use that or more"),
        ("CONCERTINA_TEAM_DISK_GB", "0", "a whole number from 1"),
        ("CONCERTINA_JOB_FILES", "10", "a whole number from 1000"),
        ("CONCERTINA_CACHE_BYTES", "200 megabytes", "a size such as 200MB"),
        ("CONCERTINA_CACHE_BYTES", "1MB", "a number of bytes from 1048576"),
        ("CONCERTINA_DATA_FOLDERS", "/srv/data,datasets", "use full paths"),
        ("CONCERTINA_DATA_FOLDERS", "/srv/../etc", "use full paths"),
        ("CONCERTINA_DATA_FOLDERS", "/", "not all of the machine"),
        ("CONCERTINA_HOST_ID", "my host", "containers are named after it"),
        ("CONCERTINA_INTERNAL_URL", "http://127.0.0.1:8000", "such as http://api:8000"),
        ("CONCERTINA_INTERNAL_URL", "http://localhost:8000", "such as http://api:8000"),
    ],
)
def test_a_mistake_is_named_with_what_to_do(name: str, value: str, advice: str) -> None:
    said = complaint(**{name: value})
    assert said.startswith(f"{name}={value!r}")
    assert advice in said


def test_only_root_has_jobs_run_as_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getuid", lambda: 10001)
    told = in_containers(CONCERTINA_JOB_USER="10001:99")
    assert told.job_user == (10001, 99)
    said = complaint(CONCERTINA_JOB_USER="20000:20000")
    assert "runs as user 10001 and cannot give folders away" in said


def test_coordinators_call_the_api_by_an_address_of_their_own() -> None:
    told = environment.read(
        {
            **IN_CONTAINERS,
            "CONCERTINA_SERVICE_URL": "https://concertina.example",
            "CONCERTINA_ALLOWED_HOSTS": "concertina.example",
        }
    )
    assert told.service_url == "https://concertina.example"
    assert told.internal_url == "http://api:8000"
    assert told.allowed_hosts == ("concertina.example", "api")
    assert environment.read(GOOD).internal_url == environment.read(GOOD).service_url


def without(name: str) -> dict[str, str]:
    return {known: value for known, value in GOOD.items() if known != name}


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_secret_may_stand_in_a_file(name: str, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{GOOD[name]}\n")
    told = environment.read({**without(name), f"{name}_FILE": str(file)})
    assert told == environment.read(GOOD)


def test_a_secret_said_twice_is_refused_and_not_repeated(tmp_path: Path) -> None:
    said = complaint(CONCERTINA_SECRET_KEY="hush", CONCERTINA_SECRET_KEY_FILE=str(tmp_path))
    assert said == (
        "CONCERTINA_SECRET_KEY and CONCERTINA_SECRET_KEY_FILE are both set. Remove one of them."
    )


def test_a_secret_file_that_is_empty_or_not_there_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    for path, problem in ((tmp_path / "none", "cannot be read"), (empty, "is empty")):
        with pytest.raises(environment.BadEnvironment, match=problem) as caught:
            environment.read({**without("REDIS_URL"), "REDIS_URL_FILE": str(path)})
        assert f"REDIS_URL_FILE={str(path)!r}" in str(caught.value)


def test_earlier_secret_keys_stand_in_a_variable_or_a_file(tmp_path: Path) -> None:
    name = "CONCERTINA_SECRET_KEY_FALLBACKS"
    file = tmp_path / "keys"
    file.write_text("older\noldest\n")
    assert environment.read(GOOD).secret_key_fallbacks == ()
    assert environment.read({**GOOD, name: "a b"}).secret_key_fallbacks == ("a", "b")
    from_file = environment.read({**GOOD, f"{name}_FILE": str(file)})
    assert from_file.secret_key_fallbacks == ("older", "oldest")
    file.write_text("\n")
    assert environment.read({**GOOD, f"{name}_FILE": str(file)}).secret_key_fallbacks == ()


def test_a_key_for_metrics_is_long_enough_that_nobody_guesses_it() -> None:
    name = "CONCERTINA_METRICS_KEYS"
    assert environment.read(GOOD).metrics_keys == ()
    assert environment.read({**GOOD, name: f"{'a' * 20} {'b' * 30}"}).metrics_keys == (
        "a" * 20,
        "b" * 30,
    )
    with pytest.raises(environment.BadEnvironment, match="openssl rand") as caught:
        environment.read({**GOOD, name: "a-short-key"})
    assert "a-short-key" not in str(caught.value)


def test_no_file_shows_that_a_process_lives_unless_one_is_named() -> None:
    assert environment.read(GOOD).heartbeat_file is None
    named = environment.read({**GOOD, "CONCERTINA_HEARTBEAT_FILE": "/alive"})
    assert named.heartbeat_file == Path("/alive")


@pytest.mark.parametrize(
    "opened",
    [
        {"CONCERTINA_SERVICE_URL": "https://concertina.example"},
        {"CONCERTINA_SERVICE_URL": "http://10.0.0.7:8000"},
        {"CONCERTINA_ALLOWED_HOSTS": "127.0.0.1,concertina.example"},
    ],
    ids=str,
)
def test_jobs_that_own_the_service_are_not_opened_to_other_machines(
    opened: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "only root can start them so, and this is user 1000"
    monkeypatch.setattr(user_settings, "_why_not", lambda _: reason)
    assert environment.read(GOOD).worker_host.why_jobs_are_trusted == reason
    assert team_users(environment.read(GOOD)) is None
    with pytest.raises(BadEnvironment, match="CONCERTINA_TRUST_ALL_JOBS=yes") as refused:
        environment.read({**GOOD, **opened})
    assert reason in str(refused.value)
    assert next(iter(opened)) in str(refused.value)
    trusting = environment.read({**GOOD, **opened, "CONCERTINA_TRUST_ALL_JOBS": "yes"})
    assert trusting.worker_host.why_jobs_are_trusted == reason
    assert not environment.read({**IN_CONTAINERS, **opened}).worker_host.why_jobs_are_trusted


def test_jobs_that_run_as_their_teams_may_come_from_anywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(user_settings, "_why_not", lambda _: "")
    opened = {**GOOD, "CONCERTINA_SERVICE_URL": "https://concertina.example"}
    users = team_users(environment.read({**opened, "CONCERTINA_TEAM_UIDS": "300000-300099"}))
    assert users is not None
    assert users.of(7, ProcessRole.WORKER) == 300014
    assert users.of(7, ProcessRole.COORDINATOR) == 300015
    with pytest.raises(BadEnvironment, match="CONCERTINA_TEAM_USERS is off"):
        environment.read({**opened, "CONCERTINA_TEAM_USERS": "off"})


def test_users_of_teams_can_be_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_settings, "_why_not", lambda _: "the kernel refuses")
    with pytest.raises(BadEnvironment, match=r"is required, but .* the kernel refuses"):
        environment.read({**GOOD, "CONCERTINA_TEAM_USERS": "required"})
    with pytest.raises(BadEnvironment, match="CONCERTINA_TEAM_UIDS='0-10'"):
        environment.read({**GOOD, "CONCERTINA_TEAM_UIDS": "0-10"})
