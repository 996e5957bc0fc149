"""What does one fetcher of a repository do? What it reads from its standard input.

    python -m storage.repositories.fetcher < order

It ends with 0 when it has written down what came of it, as `storage.data.fetcher` does.
"""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

from storage.code import archives
from storage.code.bounds import CodeBounds
from storage.data.fetcher import confinement
from storage.data.fetcher.guard import Guard, reach_of
from storage.data.fetcher.orders import ANOTHER, FetchError, FetchResult, Status, UnusableSource
from storage.errors import SnapshotInvalid
from storage.repositories.fetcher import cloning, packing
from storage.repositories.fetcher.orders import CodeOrder, FetchedCommit
from storage.repositories.workplace import Workplace
from storage.uploads import closed

_LONGEST_SECONDS: Final = 900  # guessed
_LARGEST_FILE: Final = 1 << 30  # bytes; guessed: of what comes in one piece


def main() -> int:
    order = CodeOrder.load(confinement.read_order())
    is_encrypted = urlsplit(order.url).scheme == "https"
    guard = confinement.confine(reach_of(order, is_public=is_encrypted))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(_LONGEST_SECONDS)
    folder = os.open(order.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return ANOTHER
    _outcome(order, guard).write(Path(order.status))
    return 0


def _outcome(order: CodeOrder, guard: Guard) -> Status:
    workplace = Workplace(folder=Path(order.folder))
    try:
        about = _fetch(order, workplace)
    except (FetchError, SnapshotInvalid, OSError, MemoryError) as problem:
        workplace.archive.unlink(missing_ok=True)
        closed.remove(workplace.unpacked)
        return _of_trouble(problem, guard)
    finally:
        closed.remove(workplace.repository)
    return Status(
        result=FetchResult.DONE,
        done_bytes=about.bytes,
        total_bytes=about.bytes,
        objects=about.files,
        version=about.digest,
    )


def _of_trouble(problem: Exception, guard: Guard) -> Status:
    if guard.refused:
        said = f"The repository leads to where nothing may be fetched: {guard.refused}."
        return Status(result=FetchResult.FAILED, problem=said)
    if isinstance(problem, FetchError):
        return Status(result=problem.result, problem=str(problem))
    if isinstance(problem, OSError) and problem.errno == errno.EFBIG:
        said = f"The repository sends more than {_LARGEST_FILE >> 30} GiB for the commit."
        return Status(result=FetchResult.FAILED, problem=said)
    if isinstance(problem, OSError):  # a full disk, say: not the repository's doing
        return Status(result=FetchResult.LATER, problem=f"The code cannot be written: {problem}")
    said = str(problem) or "The repository is larger than code may be."
    return Status(result=FetchResult.FAILED, problem=said)


def _fetch(order: CodeOrder, workplace: Workplace) -> FetchedCommit:
    for leftover in (workplace.repository, workplace.unpacked):
        closed.remove(leftover)
    workplace.about.unlink(missing_ok=True)
    bounds = CodeBounds(most_bytes=order.most_bytes, most_files=order.most_files)
    found = cloning.clone(order.url, order.ref, workplace.repository, order.credential)
    packing.pack(found.objects(), found.folder(order.path), workplace.archive, bounds)
    contents = archives.unpack(workplace.archive, workplace.unpacked, bounds)
    if not contents.files:
        raise UnusableSource("There is no code in that folder of the repository.")
    about = FetchedCommit(
        digest=contents.digest,
        files=contents.files,
        folders=contents.folders,
        bytes=contents.bytes,
        commit=found.commit,
        branch=found.branch,
    )
    about.write(workplace.about)
    return about


def _too_long(*_: Any) -> NoReturn:
    raise UnusableSource(
        f"It takes longer than {_LONGEST_SECONDS // 60} min to fetch the repository."
    )


if __name__ == "__main__":
    sys.exit(main())
