"""Can each team's processes be users of their own on this node, and what is closed to them there?

Ray opens its folder to all users of a machine: its sockets, its logs and our code lie in it, and
root loads them. So an agent that starts processes as other users closes that folder first.
"""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from cluster.process_host import trial
from cluster.process_host.users import folders

SETTING: Final = "CONCERTINA_RAY_FIRST_UID"
_OTHERS_WRITE: Final = 0o002
_OWN_PARENTS: Final = 2  # of a node's folder: the installation's, and CONCERTINA_RAY_NODE_DIR
_TEMP_DIR: Final = "--temp-dir="  # among the arguments of Ray's workers, which agents are
_ASK_PYTHON_SECONDS: Final = 60.0  # a shared file system may have to fetch it first
_WHERE_IT_LOOKS: Final = """
import importlib.util, os, sys
found = [sys.prefix, sys.base_prefix, *filter(os.path.isdir, sys.path)]
found += [os.path.dirname(p) for n in sys.argv[1:] if (s := importlib.util.find_spec(n))
          for p in s.submodule_search_locations or ()]
print(*dict.fromkeys(found), sep="\\n")
"""


def why_none(
    user: int, *, folder: Path, state_dir: Path, python: str, rays_folder: Path | None
) -> str:
    """Say what keeps processes from running as this user here, and what to do; empty: nothing.

    Args:
        user: its number.
        folder: the node's own, with the records of processes.
        state_dir: CONCERTINA_STATE.
        python: with the worker runtime.
        rays_folder: where Ray keeps its own files; None: nobody knows.
    """
    rule = f"{SETTING} is set, and teams' processes cannot be users of their own here"
    if os.geteuid() != 0:
        return (
            f"{rule}: Ray runs as user {os.geteuid()}, and only root can start them so. Start Ray"
            f" there as root, or leave {SETTING} out"
        )
    try:
        close(rays_folder)
        close_parents(folder)
        for one in (folder, state_dir, rays_folder):
            check_parents(one)
    except OSError as problem:
        return f"{rule}: {problem}"
    if why := why_not_given(state_dir, user):
        return f"{rule}: {why}"
    if why := trial.why_not(user, python=python, python_folders=folders_of(python)):
        return f"{rule}: {why}"
    return ""


def rays_folder(arguments: Iterable[str]) -> Path | None:
    """Return where Ray keeps its files on this node, as it tells its workers; None: it does not."""
    told = (one.removeprefix(_TEMP_DIR) for one in arguments if one.startswith(_TEMP_DIR))
    return next((Path(one) for one in told if one), None)


def close(folder: Path | None) -> None:
    """Close Ray's folder to other users, also once more: a `ray start` there opens it.

    Raises:
        OSError: it cannot be, or is none of Ray's own.
    """
    if folder is None:
        raise OSError("Ray does not say where its own files are (--temp-dir of `ray start`)")
    found = folder.stat()
    mode = stat.S_IMODE(found.st_mode)
    if mode & stat.S_ISVTX:
        raise OSError(
            f"Ray's files are in {folder}, which is everybody's. Give Ray a folder of its own"
            " (--temp-dir of `ray start`)"
        )
    if found.st_uid != os.geteuid():
        raise OSError(
            f"Ray's folder {folder} belongs to user {found.st_uid}, who started Ray on this machine"
            " before. Give this Ray a folder of its own (--temp-dir of `ray start`)"
        )
    if mode & 0o077:
        folder.chmod(0o700)


def close_parents(folder: Path) -> None:
    """Let others write to no folder that is ours above a node's: a pod's volume begins open."""
    for parent in folder.parents[:_OWN_PARENTS]:
        found = parent.stat()
        is_open = found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX
        if is_open and found.st_uid == os.geteuid():
            parent.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS_WRITE)


def check_parents(folder: Path | None) -> None:
    """See that nobody else can put another folder in its place, for root goes where it leads.

    Raises:
        OSError: somebody can; the message says where.
    """
    for parent in folder.resolve().parents if folder else ():
        found = parent.stat()
        is_open = found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX
        if is_open or found.st_uid not in {0, os.geteuid()}:
            who = "everybody" if is_open else f"user {found.st_uid}"
            raise OSError(
                f"{who} can put another folder in the place of {folder}, by writing to {parent}."
                " Let it belong to root, and let nobody else write there"
            )


def why_not_given(state_dir: Path, user: int) -> str:
    """Say why folders of the shared state cannot be given to a user; others are kept out of it."""
    try:
        folders.close(state_dir)
        with tempfile.TemporaryDirectory(dir=state_dir, prefix=".trial-") as folder:
            os.chown(folder, user, user)
            owner = Path(folder).stat().st_uid
            os.chown(folder, os.geteuid(), os.getegid())
    except OSError as problem:
        return (
            f"root of this node may not give away folders of CONCERTINA_STATE ({problem})."
            " Export that file system to the nodes' root as root (NFS: no_root_squash)"
        )
    if owner != user:
        return f"a folder of CONCERTINA_STATE that is given to user {user} becomes user {owner}'s"
    return ""


@lru_cache(maxsize=4)
def folders_of(python: str) -> tuple[Path, ...]:
    """Return all folders that an interpreter loads from.

    Raises:
        OSError: it does not tell.
    """
    try:
        ran = subprocess.run(  # noqa: S603 - an admin's own
            (python, "-c", _WHERE_IT_LOOKS, "concertina_worker"),
            cwd="/",
            capture_output=True,
            text=True,
            check=True,
            timeout=_ASK_PYTHON_SECONDS,
            env={"PATH": os.environ.get("PATH", "")},
        )
    except subprocess.SubprocessError as problem:
        raise OSError(f"{python} does not say where it loads from: {problem}") from problem
    return _known(ran.stdout.splitlines())


def _known(lines: Sequence[str]) -> tuple[Path, ...]:
    return tuple(Path(line) for line in lines if line.startswith("/") and line != "/")
