"""What must not happen in a process that others are forked from."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from concertina_worker import zygote as zygotes
from tests.worker.worker_zygote import python_path

THREADED = "import _thread, time\n_thread.start_new_thread(time.sleep, (60.0,))\n"


def test_the_socket_of_a_zygote_is_not_there_before_somebody_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, was_there = tmp_path / "socket", []

    class Listener(socket.socket):
        def listen(self, *backlog: Any) -> None:
            was_there.append(address.exists())
            super().listen(*backlog)

    monkeypatch.setattr(socket, "socket", Listener)
    with zygotes.listen(address), socket.socket(socket.AF_UNIX) as caller:
        monkeypatch.chdir(tmp_path)
        caller.connect(address.name)
    assert was_there == [False]


def test_a_zygote_does_not_serve_with_a_thread_that_python_knows_nothing_of(tmp_path: Path) -> None:
    (tmp_path / "threaded.py").write_text(THREADED)
    files = (tmp_path / "lock", tmp_path / "socket")
    zygote = subprocess.run(  # it leaves its process tree: its output ends when it does
        (sys.executable, "-m", "concertina_worker.zygote", *files, "0", "0", "threaded", ""),
        env={"PYTHONPATH": os.pathsep.join((str(tmp_path), python_path()))},
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert "a zygote with threads" in zygote.stderr


def test_the_bytecode_of_what_a_zygote_loads_is_for_all_users(tmp_path: Path) -> None:
    (tmp_path / "threaded.py").write_text(THREADED)
    files = (tmp_path / "lock", tmp_path / "socket")
    subprocess.run(
        (sys.executable, "-m", "concertina_worker.zygote", *files, "0", "0", "threaded", ""),
        env={"PYTHONPATH": os.pathsep.join((str(tmp_path), python_path()))},
        umask=0o077,
        stderr=subprocess.PIPE,
        check=True,
    )
    (kept,) = (tmp_path / "__pycache__").iterdir()
    modes = [kept.parent.stat().st_mode & 0o777, kept.stat().st_mode & 0o777]
    assert modes == [0o755, 0o644]
