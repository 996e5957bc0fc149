"""Is every variable of the kind `ray` read, and each mistake named with what to do?"""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath

import pytest
from cluster.ray_host.kind import RayKind, link_command, link_environment
from cluster.worker_host import LaunchRefused, ProcessRole
from control_plane.configuration import environment
from control_plane.configuration.environment import BadEnvironment

GOOD = {
    "DATABASE_URL": "postgresql://u@h/d",
    "REDIS_URL": "redis://h",
    "CONCERTINA_SECRET_KEY": "k",
    "CONCERTINA_WORKER_HOST": "ray",
    "CONCERTINA_RAY_ADDRESS": "ray-head:6379",
    "CONCERTINA_RAY_UNPROTECTED": "yes",
}
WITH_USERS = {"CONCERTINA_RAY_UNPROTECTED": "", "CONCERTINA_RAY_FIRST_UID": "1900000000"}


def kind(**changes: str) -> RayKind:
    told = environment.read({**GOOD, **changes}).worker_host
    assert isinstance(told, RayKind)
    return told


def complaint(**changes: str) -> str:
    with pytest.raises(BadEnvironment) as caught:
        environment.read({**GOOD, **changes})
    return str(caught.value)


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text("0123456789abcdef")
    return file


def test_what_is_not_said_has_a_default() -> None:
    told = kind()
    assert told.token_file is None
    assert told.python == Path(sys.executable)
    assert told.worker_python == PurePosixPath(sys.executable)
    assert told.node_dir == PurePosixPath("/var/tmp/concertina")  # noqa: S108 - on nodes


@pytest.mark.parametrize("address", ["10.0.0.1:6379", "[::1]:6379", "head.example.com:1"])
def test_a_head_is_a_host_and_a_port(address: str) -> None:
    assert kind(CONCERTINA_RAY_ADDRESS=address).address == address


@pytest.mark.parametrize(
    "address", ["", "head", "head:", ":6379", "head:0", "head:65536", "ray://head:10001", "head:x"]
)
def test_what_is_no_address_is_refused_with_what_this_machine_needs(address: str) -> None:
    said = complaint(CONCERTINA_RAY_ADDRESS=address)
    assert f"CONCERTINA_RAY_ADDRESS={address!r}" in said
    assert "ray start --address=HOST:PORT --num-cpus=0" in said


def test_a_cluster_without_a_token_is_used_only_if_an_admin_says_so(token_file: Path) -> None:
    assert "CONCERTINA_RAY_UNPROTECTED=yes" in complaint(CONCERTINA_RAY_UNPROTECTED="")
    told = kind(CONCERTINA_RAY_UNPROTECTED="", CONCERTINA_RAY_TOKEN_FILE=str(token_file))
    assert told.token_file == token_file
    assert "both set" in complaint(CONCERTINA_RAY_TOKEN_FILE=str(token_file))


def test_a_token_file_that_cannot_be_read_or_is_empty_is_refused(
    token_file: Path, tmp_path: Path
) -> None:
    changes = {"CONCERTINA_RAY_UNPROTECTED": ""}
    missing = str(tmp_path / "missing")
    assert "cannot be read" in complaint(**changes, CONCERTINA_RAY_TOKEN_FILE=missing)
    token_file.write_text("\n")
    assert "empty" in complaint(**changes, CONCERTINA_RAY_TOKEN_FILE=str(token_file))


@pytest.mark.parametrize("name", ["CONCERTINA_RAY_NODE_DIR", "CONCERTINA_RAY_WORKER_PYTHON"])
@pytest.mark.parametrize("path", ["state", "./state", "/var/../etc"])
def test_paths_on_nodes_are_whole(name: str, path: str) -> None:
    assert f"{name}=" in complaint(**{name: path})


@pytest.mark.parametrize("python", ["python3", "/no/such/python", "/etc/passwd"])
def test_the_links_interpreter_is_a_program(python: str) -> None:
    assert "CONCERTINA_RAY_PYTHON=" in complaint(CONCERTINA_RAY_PYTHON=python)


def test_a_host_id_that_cannot_be_in_a_folders_name_is_refused() -> None:
    assert "CONCERTINA_HOST_ID='a/b'" in complaint(CONCERTINA_HOST_ID="a/b")


def test_jobs_are_trusted_so_a_service_for_other_machines_has_to_say_that_it_trusts_them() -> None:
    assert "token" in kind().why_jobs_are_trusted
    opened = {"CONCERTINA_SERVICE_URL": "https://concertina.example.com"}
    assert "CONCERTINA_TRUST_ALL_JOBS=yes" in complaint(**opened)
    assert kind(**opened, CONCERTINA_TRUST_ALL_JOBS="yes").is_everybody_trusted


def test_teams_are_apart_where_an_admin_names_the_users_of_nodes(
    token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    opened = {"CONCERTINA_SERVICE_URL": "https://concertina.example.com", **WITH_USERS}
    told = environment.read({**GOOD, **opened, "CONCERTINA_RAY_TOKEN_FILE": str(token_file)})
    assert told.worker_host.why_jobs_are_trusted == ""
    assert told.worker_host.why_pools_serve_one_team == ""
    environments = told.worker_host.process_environments(told)
    users = {environments.user_of(7, role) for role in ProcessRole}
    assert users == {1_900_000_014, 1_900_000_015}
    assert environments.is_user_of_a_team(1_900_009_999)
    assert not environments.is_user_of_a_team(1_900_010_000)
    with pytest.raises(LaunchRefused, match="CONCERTINA_RAY_FIRST_UID"):
        environments.user_of(5000, ProcessRole.WORKER)


def test_a_service_that_is_not_root_cannot_keep_what_belongs_to_users_of_teams(
    token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 10_001)
    said = complaint(**WITH_USERS, CONCERTINA_RAY_TOKEN_FILE=str(token_file))
    assert "has to be root" in said


@pytest.mark.parametrize("first", ["999", "-5", "many", "4294967294", "4294957295"])
def test_numbers_that_are_no_teams_users_are_refused(first: str) -> None:
    assert f"CONCERTINA_RAY_FIRST_UID={first!r}" in complaint(CONCERTINA_RAY_FIRST_UID=first)


def test_a_cluster_that_lets_everybody_in_keeps_no_team_from_another() -> None:
    said = complaint(CONCERTINA_RAY_FIRST_UID="1900000000")
    assert "CONCERTINA_RAY_UNPROTECTED are both set" in said


def test_without_users_of_teams_a_pool_serves_one_team() -> None:
    assert "one user" in kind().why_pools_serve_one_team


def test_nodes_have_no_address_of_their_own() -> None:
    assert kind().complaint_of_node_url("") == ""
    assert "empty" in kind().complaint_of_node_url("ray://n1")


def test_jobs_cannot_name_images() -> None:
    assert kind().platform_image is None


def test_a_coordinator_begins_with_the_nodes_interpreter() -> None:
    read = {**GOOD, "CONCERTINA_RAY_WORKER_PYTHON": "/opt/venv/bin/python"}
    told = environment.read(read)
    environments = told.worker_host.process_environments(told)
    assert environments.python == "/opt/venv/bin/python"
    assert environments.of_coordinator("job1").env["PATH"].startswith("/opt/venv/bin:")


def test_the_link_sees_rays_variables_and_none_of_the_services(token_file: Path) -> None:
    service = {
        **GOOD,
        "PATH": "/bin",
        "RAY_USE_TLS": "1",
        "RAY_AUTH_MODE": "disabled",
        "RAY_gcs_rpc_server_reconnect_timeout_s": "90",
    }
    seen = link_environment(service, token_file=token_file)
    assert not seen.keys() & GOOD.keys()
    assert (seen["RAY_USE_TLS"], seen["RAY_gcs_rpc_server_reconnect_timeout_s"]) == ("1", "90")
    assert (seen["RAY_AUTH_MODE"], seen["RAY_AUTH_TOKEN_PATH"]) == ("token", str(token_file))
    assert link_environment(service, token_file=None)["RAY_AUTH_MODE"] == "disabled"


def test_nothing_secret_is_among_the_words_that_others_see_of_the_link(token_file: Path) -> None:
    words = " ".join(link_command(Path(sys.executable)))
    assert token_file.read_text() not in words
