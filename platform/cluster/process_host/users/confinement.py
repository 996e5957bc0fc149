"""How does a process become one of its team's user, who sees nothing of the service or other teams?

As root, `confine` turns the calling process into one of that user: no groups, no capabilities, no
way back (`no_new_privs`). Folders that only root may enter, such as root's home or the service's
own, are shown as empty ones in which only those lie that the job needs: Python, the sources, its
own folders. Others are hidden though they may be open, or be opened later. That takes a mount
namespace, which only this process and its children are in.

Standard library only: supervisors load it, and zygotes run it by its path in the forks they make.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

_NEW_MOUNT_NAMESPACE = 0x00020000  # linux/sched.h
_NO_SET_USER_ID, _NO_DEVICES, _BIND, _RECURSIVE, _PRIVATE = 2, 4, 4096, 16384, 1 << 18  # mount(2)
_SET_DUMPABLE = 4  # numbers of prctl(2)
_SET_NO_NEW_PRIVILEGES = 38
_EMPTY_FOLDER = b"mode=755,size=64k"
_OTHERS_MAY_ENTER = 0o001


def confine(user: int, visible: Sequence[str], hidden: Sequence[str] = ()) -> None:
    """Become this user, who sees the folders `visible` although others around them are closed.

    Of the folders `hidden` it sees nothing else, whoever opens them later. The kernel forgets
    meanwhile that this process shall end with its parent.

    Raises:
        OSError: the kernel refuses, or this is not root; the process must end then.
    """
    _show(visible, hidden)
    os.umask(0o077)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    _call("prctl", _SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _call("prctl", _SET_DUMPABLE, 1, 0, 0, 0)  # else its own files in /proc would be root's


def _show(visible: Sequence[str], hidden: Sequence[str]) -> None:
    folders = sorted({path for path in visible if Path(path).is_dir()}, key=lambda p: p.count("/"))
    covered = [path for path in hidden if Path(path).is_dir()]
    if not covered and not any(_closed_ancestor(folder) for folder in folders):
        return
    with ExitStack() as kept:
        _call("unshare", _NEW_MOUNT_NAMESPACE)
        _mount(b"none", "/", None, _RECURSIVE | _PRIVATE)
        os.umask(0o022)
        found = [(folder, _open(folder, kept)) for folder in folders]
        for folder in covered:
            _cover(folder)
        for folder, descriptor in found:
            _bring_into_view(folder, descriptor)


def _bring_into_view(folder: str, descriptor: int) -> None:
    if closed := _closed_ancestor(folder):
        _cover(closed)
    if not Path(folder).is_dir():  # an ancestor is an empty folder now
        Path(folder).mkdir(parents=True)
        _mount(f"/proc/self/fd/{descriptor}".encode(), folder, None, _BIND | _RECURSIVE)


def _cover(folder: str) -> None:
    """Show an empty folder in its place."""
    _mount(b"tmpfs", folder, b"tmpfs", _NO_SET_USER_ID | _NO_DEVICES, _EMPTY_FOLDER)


def _closed_ancestor(folder: str) -> str | None:
    """The first on the way that others than its owner may not enter."""
    for ancestor in _ancestors(folder):
        try:
            mode = ancestor.stat().st_mode
        except FileNotFoundError:
            return None
        if not mode & _OTHERS_MAY_ENTER:
            return str(ancestor)
    return None


def _ancestors(folder: str) -> Iterator[Path]:
    """Return the folders above it, from the root down."""
    yield from reversed(Path(folder).parents)


def _open(folder: str, kept: ExitStack) -> int:
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    kept.callback(os.close, descriptor)
    return descriptor


def _mount(
    source: bytes, target: str, kind: bytes | None, flags: int, data: bytes | None = None
) -> None:
    _call("mount", source, os.fsencode(target), kind, ctypes.c_ulong(flags), data)


def _call(function: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, function)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function}: {os.strerror(number)}")
