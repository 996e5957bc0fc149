"""What if a machine that is reached by SSH is switched off, while many threads want it?"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import pytest
from cluster.docker_host.connection.tunnels import Tunnels
from cluster.worker_host import HostUnavailable

from tests.contract.conftest import until

MANY = 8


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an `ssh` that notes each start, and gets nowhere once `given-up` is there."""
    program = tmp_path / "ssh"
    program.write_text(
        f"#!/bin/sh\ncd {tmp_path}; echo start >> starts\n"
        "until [ -e given-up ]; do sleep 0.02; done; echo no route to host >&2; exit 255\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tmp_path


@pytest.fixture
def tunnels() -> Iterator[Tunnels]:
    with contextlib.closing(Tunnels(seconds=60.0)) as tunnels:
        yield tunnels


def test_whoever_waited_for_an_attempt_in_vain_begins_no_other(ssh: Path, tunnels: Tunnels) -> None:
    def ask(_: int) -> str:
        with pytest.raises(HostUnavailable) as problem:
            tunnels.local_url("ssh://me@gone")
        return str(problem.value)

    with ThreadPoolExecutor(MANY, thread_name_prefix="asking") as threads:
        said = threads.map(ask, range(MANY))
        until(lambda: waiting() == MANY)
        (ssh / "given-up").touch()
        assert set(said) == {"ssh://me@gone: no route to host"}
    assert (ssh / "starts").read_text().split() == ["start"]
    with pytest.raises(HostUnavailable):  # who asks later has it tried again
        tunnels.local_url("ssh://me@gone")
    assert len((ssh / "starts").read_text().split()) == 2


def waiting() -> int:
    """How many threads are in the midst of asking for a tunnel."""
    frames = sys._current_frames()  # noqa: SLF001 - nothing else tells where a thread is
    asking = [one for one in threading.enumerate() if one.name.startswith("asking")]
    return sum(_is_in_tunnel(frames.get(one.ident or 0)) for one in asking)


def _is_in_tunnel(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name == "standing":
            return True
        frame = frame.f_back
    return False
