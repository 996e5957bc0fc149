"""Is a process of the service well? What its container's health check finds."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest
from control_plane import probe
from control_plane.configuration import environment
from control_plane.configuration.environment import Environment


def told(heartbeat: Path, **more: str) -> Environment:
    return environment.read({**os.environ, "CONCERTINA_HEARTBEAT_FILE": str(heartbeat), **more})


def test_a_worker_whose_heart_beat_just_now_is_well(tmp_path: Path) -> None:
    (tmp_path / "heartbeat").touch()
    probe.probe_io(told(tmp_path / "heartbeat"))


def test_the_control_worker_is_well_though_the_api_is_away(tmp_path: Path) -> None:
    (tmp_path / "heartbeat").touch()
    with socket.socket() as nobody:  # bound, so that no other takes the port, and not listening
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        probe.probe_control(told(tmp_path / "heartbeat", CONCERTINA_INTERNAL_URL=url))


def test_a_worker_that_stands_still_is_not(tmp_path: Path) -> None:
    heartbeat = tmp_path / "heartbeat"
    heartbeat.touch()
    earlier = time.time() - 100
    os.utime(heartbeat, (earlier, earlier))
    with pytest.raises(probe.NotWell, match=r"was last written \d+ s ago"):
        probe.probe_io(told(heartbeat))


def test_the_check_of_a_process_ends_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCERTINA_HEARTBEAT_FILE", str(tmp_path / "none"))
    with pytest.raises(SystemExit, match=r"io: .*No such file"):
        probe.main("io")
