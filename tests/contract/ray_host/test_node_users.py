"""Whether a node keeps teams apart is told in words that say what to do."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from cluster.ray_host import node_users
from cluster.ray_host.agent import Agent
from cluster.ray_host.wire import question

from concertina_worker import protocol

USER = 1_952_000_000


def why(state_dir: Path, *, rays_folder: Path | None) -> str:
    folder = state_dir.parent / "node_dir" / "installation" / "n1"
    folder.mkdir(parents=True, exist_ok=True)
    return node_users.why_none(
        USER, folder=folder, state_dir=state_dir, python=sys.executable, rays_folder=rays_folder
    )


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o755)
    return folder


@pytest.fixture
def rays_folder(tmp_path: Path) -> Path:
    """As Ray makes it."""
    folder = tmp_path / "ray"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def test_what_is_not_roots_cannot_give_users(
    state_dir: Path, rays_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 10_001)
    said = why(state_dir, rays_folder=rays_folder)
    assert "Ray runs as user 10001" in said
    assert "leave CONCERTINA_RAY_FIRST_UID out" in said
    assert stat.S_IMODE(rays_folder.stat().st_mode) == 0o777


def test_rays_workers_are_told_where_its_folder_is() -> None:
    assert node_users.rays_folder(["worker.py", "--temp-dir=/tmp/ray", "--x"]) == Path("/tmp/ray")  # noqa: S108 - Ray's
    assert node_users.rays_folder(["worker.py", "--temp-dir="]) is None
    assert node_users.rays_folder(["worker.py"]) is None


def test_rays_folder_is_closed_and_nobody_elses(tmp_path: Path, rays_folder: Path) -> None:
    for _ in range(2):
        node_users.close(rays_folder)
        assert stat.S_IMODE(rays_folder.stat().st_mode) == 0o700
    rays_folder.chmod(0o1777)
    with pytest.raises(OSError, match=r"which is everybody's\. Give Ray a folder of its own"):
        node_users.close(rays_folder)
    with pytest.raises(OSError, match="does not say where"):
        node_users.close(None)
    with pytest.raises(FileNotFoundError):
        node_users.close(tmp_path / "gone")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_another_users_folder_of_ray_is_left_alone(rays_folder: Path) -> None:
    os.chown(rays_folder, USER, USER)
    with pytest.raises(OSError, match=f"belongs to user {USER}"):
        node_users.close(rays_folder)


def test_folders_of_which_others_can_put_one_in_the_place_are_told(tmp_path: Path) -> None:
    """Root would follow a link of a job's, and give away what is there."""
    node_dir = tmp_path / "shared" / "node_dir"
    folder = node_dir / "installation" / "n1"
    folder.mkdir(parents=True)
    node_dir.chmod(0o777)  # as a pod's volume
    with pytest.raises(OSError, match=f"everybody can put .* by writing to {node_dir}"):
        node_users.check_parents(folder)
    node_users.close_parents(folder)
    node_users.check_parents(folder)
    node_dir.parent.chmod(0o777)
    node_users.close_parents(folder)
    with pytest.raises(OSError, match=f"by writing to {node_dir.parent}"):
        node_users.check_parents(folder)
    node_dir.parent.chmod(0o1777)
    node_users.check_parents(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_a_folder_below_another_users_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "theirs" / "n1"
    folder.mkdir(parents=True)
    os.chown(folder.parent, USER, USER)
    with pytest.raises(OSError, match=f"user {USER} can put another folder"):
        node_users.check_parents(folder)


def test_a_state_folder_that_root_may_not_give_away_is_told(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def squashed(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.chown", squashed)
    assert "no_root_squash" in node_users.why_not_given(state_dir, USER)
    monkeypatch.setattr("os.chown", lambda *_: None)
    assert "becomes user" in node_users.why_not_given(state_dir, USER)
    assert list(state_dir.iterdir()) == []


def test_an_interpreter_says_where_it_loads_from(tmp_path: Path) -> None:
    found = node_users.folders_of(sys.executable)
    assert {Path(sys.prefix), Path(protocol.__file__).parents[1]} <= {*found}
    with pytest.raises(OSError, match="does not say where it loads from"):
        node_users.folders_of("/bin/false")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_a_node_that_can_is_closed_and_fit(state_dir: Path, rays_folder: Path) -> None:
    assert why(state_dir, rays_folder=rays_folder) == ""
    assert [stat.S_IMODE(one.stat().st_mode) for one in (state_dir, rays_folder)] == [0o700] * 2


def test_an_agent_starts_nothing_as_another_user_beside_an_open_folder(tmp_path: Path) -> None:
    labels = {"process_id": "w1", "job_id": "j", "role": "worker", "attempt": 1, "fence": 1}
    launch = {"labels": labels, "command": ["true"], "env": {}, "node": "n1", "user": USER}
    agent = Agent("n1", str(tmp_path / "node"))
    bounds = {"process_bytes": 1 << 20, "job_bytes": 1 << 20}
    said = agent.ask(question("start", launches=[launch], log_bounds=bounds))
    assert "unavailable" in said
    assert "does not say where" in said
    assert not (tmp_path / "node").exists()
