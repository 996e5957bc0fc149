"""Two checkouts on one machine share nothing."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from local_stack import checkout as checkouts
from local_stack.checkout import UnsafeFolder


def test_two_checkouts_have_folders_and_ports_of_their_own() -> None:
    one, other = (checkouts.find(Path("/checkouts") / name) for name in ("one", "other"))
    assert one.identity != other.identity
    assert one.runtime_dir != other.runtime_dir
    assert one.state_dir != other.state_dir
    assert one.preferred_port != other.preferred_port


def test_a_checkout_is_the_same_each_time_and_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert checkouts.find(tmp_path / "real") == checkouts.find(tmp_path / "link")


def test_sockets_stay_short_however_deep_the_checkout(tmp_path: Path) -> None:
    deep = tmp_path / ("deep/" * 30)
    socket_path = checkouts.find(deep).runtime_dir / "postgres" / ".s.PGSQL.5432"
    assert len(str(socket_path)) < 100


def test_a_port_in_use_is_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not checkouts.is_free(port)
        assert checkouts.free_port(port) > port


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "sockets").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFolder):
        checkouts.make_private_folder(tmp_path / "sockets")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_that_another_user_made_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "sockets"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    with pytest.raises(UnsafeFolder):
        checkouts.make_private_folder(folder)


def test_a_folder_of_ours_is_closed_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "sockets"
    folder.mkdir(mode=0o755)
    checkouts.make_private_folder(folder)
    assert folder.stat().st_mode & 0o077 == 0
