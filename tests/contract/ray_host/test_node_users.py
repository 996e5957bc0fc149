"""Whether a node keeps teams apart is told in words that say what to do."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
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
    return node_users.why_unsafe(
        folder, state_dir=state_dir, rays_folder=rays_folder
    ) or node_users.why_none(USER, state_dir=state_dir, python=sys.executable)


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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes what is another user's")
@pytest.mark.parametrize("is_there", [True, False])
def test_another_users_link_on_the_way_to_a_folder_is_told(
    tmp_path: Path, *, is_there: bool
) -> None:
    """It leads where all is root's as long as somebody looks."""
    (tmp_path / "roots").mkdir()
    link = tmp_path / "node_dir"
    link.symlink_to("roots" if is_there else "gone")
    node_users.check_parents(link / "installation" / "n1")
    os.chown(link, USER, USER, follow_symlinks=False)
    for folder in (link, link / "installation" / "n1"):
        with pytest.raises(OSError, match=f"user {USER} can put .* by writing to {link}"):
            node_users.check_parents(folder)
    second = tmp_path / "second"
    second.symlink_to(link)
    with pytest.raises(OSError, match=f"by writing to {link}"):
        node_users.check_parents(second / "n1")
    second.unlink()
    second.symlink_to(second)
    with pytest.raises(OSError, match="Too many levels"):
        node_users.check_parents(second / "n1")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes what is another user's")
def test_nothing_is_written_where_another_user_leads(tmp_path: Path, rays_folder: Path) -> None:
    """An agent's first answer tells, and leaves what its folder leads to as it was."""
    theirs, roots = tmp_path / "theirs", tmp_path / "of root"
    (theirs / "n1").mkdir(parents=True)
    roots.write_text("mine")
    (theirs / "n1" / ".trial").symlink_to(roots)
    for one in (theirs, theirs / "n1"):
        os.chown(one, USER, USER)
    asked = {"state_dir": str(tmp_path), "word": "x", "worker_python": sys.executable}
    line = question("hello", **asked, first_user=USER, gpus=None)
    arguments, sys.argv = sys.argv, [f"--temp-dir={rays_folder}"]
    try:
        said = Agent("n1", str(theirs / "n1")).ask(line)
    finally:
        sys.argv = arguments
    assert f"user {USER} can put another folder" in said
    assert (roots.read_text(), sorted(theirs.rglob("*"))) == (
        "mine",
        [theirs / "n1", theirs / "n1" / ".trial"],
    )


def test_a_token_that_all_can_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, token = Path(name), Path(name, "auth_token")
        monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
        assert node_users.why_token_is_open() == ""
        token.write_text("secret")
        token.chmod(0o644)
        folder.chmod(0o755)
        assert f"chmod 600 {token}" in node_users.why_token_is_open()
        folder.chmod(0o700)
        assert node_users.why_token_is_open() == ""
        folder.chmod(0o755)
        token.chmod(0o640)
        assert node_users.why_token_is_open() == ""


def test_numbers_that_somebody_on_the_node_has_are_told(tmp_path: Path) -> None:
    said = node_users.why_none(60_000, state_dir=tmp_path, python=sys.executable)
    assert "nobody is user 65534 there" in said


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
