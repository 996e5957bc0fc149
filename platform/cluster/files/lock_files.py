"""How do service processes take turns? By locks on files; the kernel lets go when one dies."""

from __future__ import annotations

import fcntl
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cluster.files.private_folders import make_private

_POLL_SECONDS: Final = 0.01


@contextmanager
def holding(path: Path, *, seconds: float = math.inf) -> Iterator[bool]:
    """Hold a lock file, waited for so long. False: somebody else has it.

    Its folder is made if need be, and again when it is removed meanwhile.
    """
    give_up_at = time.monotonic() + seconds
    while True:
        make_private(path.parent)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            continue
        try:
            is_ours = _take(descriptor, give_up_at=give_up_at)
            if is_ours and not _is_same(descriptor, path):
                continue
            yield is_ours
            return
        finally:
            os.close(descriptor)


def is_held(path: Path) -> bool:
    """True if some process has it."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _take(descriptor: int, *, give_up_at: float) -> bool:
    if math.isinf(give_up_at):  # for as long as a container runs, say: the kernel wakes us
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return True
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= give_up_at:
                return False
            time.sleep(_POLL_SECONDS)
        else:
            return True


def _is_same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
