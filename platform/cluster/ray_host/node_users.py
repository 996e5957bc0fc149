"""Can each team's processes be users of their own on this node, and what is closed to them there?

Ray opens its folder to all users of a machine: its sockets, its logs and our code lie in it, and
root loads them. So an agent that starts processes as other users closes that folder first.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from cluster.process_host import trial
from cluster.process_host.users import folders

SETTING: Final = "CONCERTINA_RAY_FIRST_UID"
USERS: Final = 10_000  # two for each team
_RULE: Final = f"{SETTING} is set, and teams' processes cannot be users of their own here"
_OTHERS_READ, _OTHERS_WRITE, _OTHERS_ENTER = 0o004, 0o002, 0o001
_MOST_LINKS: Final = 40  # as many as the kernel follows
_RAYS_TOKEN: Final = "~/.ray/auth_token"  # noqa: S105 - where Ray looks, unless it is told
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


def why_unsafe(folder: Path, *, state_dir: Path, rays_folder: Path | None) -> str:
    """Say who could lead root astray here; empty: nobody. Before root writes anything.

    Args:
        folder: the node's own, with the records of processes.
        state_dir: CONCERTINA_STATE.
        rays_folder: where Ray keeps its own files; None: nobody knows.
    """
    if os.geteuid() != 0:
        return (
            f"{_RULE}: Ray runs as user {os.geteuid()}, and only root can start them so. Start Ray"
            f" there as root, or leave {SETTING} out"
        )
    try:
        close(rays_folder)
        close_parents(folder)
        for one in (folder, state_dir, rays_folder):
            check_parents(one)
        with contextlib.suppress(OSError):  # told by who needs it
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        check_parents(folder)  # somebody may have been quicker
    except OSError as problem:
        return f"{_RULE}: {problem}"
    return ""


def why_none(user: int, *, state_dir: Path, python: str) -> str:
    """Say what keeps processes from running as this user here, and what to do; empty: nothing.

    Args:
        user: the first of their numbers.
        state_dir: CONCERTINA_STATE.
        python: with the worker runtime.
    """
    why = (
        _why_taken(user)
        or why_token_is_open()
        or why_not_given(state_dir, user)
        or trial.why_not(user, python=python, python_folders=folders_of(python))
    )
    return f"{_RULE}: {why}" if why else ""


def _why_taken(first: int) -> str:
    """Say who is one of these users already, as far as this machine's list of users tells."""
    taken = [one for one in pwd.getpwall() if first <= one.pw_uid < first + USERS]
    if not taken:
        return ""
    return (
        f"{taken[0].pw_name} is user {taken[0].pw_uid} there, one of the {USERS} from {first} on."
        f" Let {SETTING} be the first of {USERS} numbers that nobody is"
    )


def why_token_is_open() -> str:
    """Say where all users of this machine can read Ray's token; empty: nowhere that we know of."""
    given = os.environ.get("RAY_AUTH_TOKEN_PATH") or _RAYS_TOKEN
    try:
        path = Path(given).expanduser().resolve()
        is_open = path.stat().st_mode & _OTHERS_READ and all(
            parent.stat().st_mode & _OTHERS_ENTER for parent in path.parents
        )
    except (OSError, RuntimeError):  # there is none, or Ray cannot read it either
        return ""
    if not is_open:
        return ""
    return f"all users of the machine can read Ray's token in {path}. Close it: chmod 600 {path}"


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
    for parent in filter(Path.exists, folder.parents[:_OWN_PARENTS]):
        found = parent.stat()
        is_open = found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX
        if is_open and found.st_uid == os.geteuid():
            parent.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS_WRITE)


def check_parents(folder: Path | None) -> None:
    """See that nobody else can put another folder in its place, for root goes where it leads.

    What is not there yet is nobody's.

    Raises:
        OSError: somebody can; the message says where.
    """
    for one in _on_the_way_to(folder.absolute(), links=_MOST_LINKS) if folder else ():
        found = one.lstat()
        is_open = (
            stat.S_ISDIR(found.st_mode)
            and found.st_mode & _OTHERS_WRITE
            and not found.st_mode & stat.S_ISVTX
        )
        if is_open or found.st_uid not in {0, os.geteuid()}:
            who = "everybody" if is_open else f"user {found.st_uid}"
            raise OSError(
                f"{who} can put another folder in the place of {folder}, by writing to {one}."
                " Let it belong to root, and let nobody else write there"
            )


def _on_the_way_to(folder: Path, *, links: int) -> Iterator[Path]:
    """Yield the folders above it and the links that lead there, with those on their own ways."""
    for one in (*reversed(folder.parents), folder):
        if one.is_symlink():
            if not links:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(one))
            yield one
            target = one.parent / one.readlink()
            yield from _on_the_way_to(target, links=links - 1)
            if one != folder and target.exists():
                yield target.resolve()
        elif one != folder and one.exists():
            yield one


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
