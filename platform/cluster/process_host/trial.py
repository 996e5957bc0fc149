"""Can jobs run as users of their own on this machine, and if not, why? One process tries it.

`python -S -E -m cluster.process_host.trial <user> <closed folder> <own folder> <python> <visible…>`
starts that Python as that user in the ordinary way and prints `ok`, or why that did not work. It is
a program, because the service has threads and must not fork.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cluster.process_host.commands import command
from cluster.process_host.commands.plain_python import DEFAULT_PATH
from cluster.source_root import SOURCE_ROOT

_SECONDS: Final = 60.0  # it needs 0.3 s; generous for a loaded machine
_OK: Final = "ok"
_TRY: Final = """
import importlib.util, os, signal, sys
closed, own = sys.argv[1:]
open(os.path.join(own, "trial"), "w").close()
if os.access(closed, os.R_OK | os.X_OK):
    sys.exit(f"{closed} is open to it")
import concertina_worker.protocol
print("ok", flush=True)
signal.pause()
"""


def why_not(user: int, *, python: str = sys.executable, python_folders: Sequence[Path] = ()) -> str:
    """Return what keeps processes from running as this user; empty: nothing does.

    Args:
        user: its number.
        python: the interpreter with the worker runtime.
        python_folders: from which it loads; empty: it is our own.
    """
    if os.geteuid() != 0:
        return f"only root can start them so, and this is user {os.geteuid()}"
    from cluster.process_host import launch_document  # noqa: PLC0415 - the program does without

    with tempfile.TemporaryDirectory(prefix="concertina-trial-") as folder:
        closed, own = Path(folder, "closed"), Path(folder, "own")
        for made in (closed, own):
            made.mkdir(mode=0o700)
        try:
            os.chown(own, user, user)
        except OSError as problem:  # a user namespace, of a container say, that lacks the number
            return f"user {user} cannot be had here: {problem.strerror}"
        visible = launch_document.visible([own], python_folders)
        arguments = (str(user), str(closed), str(own), python, *visible)
        return _outcome_of((sys.executable, "-S", "-E", "-m", __name__, *arguments))


def _outcome_of(program: tuple[str, ...]) -> str:
    try:
        ran = subprocess.run(  # noqa: S603 - our own interpreter and module
            program, cwd=SOURCE_ROOT, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    said = (ran.stdout + ran.stderr).strip().splitlines() or ["the trial ended without a word"]
    return "" if said[-1] == _OK else said[-1]


def _try(user: int, folders: Sequence[str], python: str, visible: Sequence[str]) -> str:
    """Return what came of it. `folders`: one that is closed to the user, and one of its own."""
    closed, own = folders
    reader, writer = os.pipe()
    what = command.ProcessCommand(
        arguments=(python, "-c", _TRY, closed, own),
        env={"PATH": DEFAULT_PATH, "HOME": own},
        workdir=own,
        user=user,
        visible=visible,
    )
    pid = command.spawn(what, stdout=writer, stderr=writer)
    os.close(writer)
    try:
        return _verdict(pid, reader)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _verdict(pid: int, reader: int) -> str:
    """Return what it wrote last until it was ready or ended, and whether we may look at it."""
    said = ""
    with os.fdopen(reader, errors="replace") as lines:
        for line in lines:
            said = line.strip() or said
            if said == _OK:
                break
    if said != _OK:
        return said or "it ended at once"
    try:
        Path(f"/proc/{pid}/environ").read_bytes()  # by which what a killed supervisor left is found
    except OSError as problem:
        return f"its environment cannot be read: {problem.strerror}"
    return _OK


if __name__ == "__main__":
    sys.stdout.write(_try(int(sys.argv[1]), sys.argv[2:4], sys.argv[4], sys.argv[5:]) + "\n")
