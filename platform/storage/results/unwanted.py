"""What did people delete of a job's results? A wish, until the control loop has removed it.

Only the control loop writes to the folders of jobs. What is wished away is not shown any more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from storage.errors import ResultUnknown
from storage.models import UnwantedResult
from storage.results import opening
from storage.results.folders import Results, parts_of

MOST_AT_ONCE: Final = 200  # guessed: each is one or two calls of the file system

Discard = Callable[[Path], None]
"""Given a folder of any size, which is not there any more when it returns."""


def paths(results: Results) -> frozenset[str]:
    """Return what is to go."""
    job_id, place = results.parts
    rows = UnwantedResult.objects.filter(job_id=job_id, place=place)
    return frozenset(rows.values_list("path", flat=True))


def check(path: str, unwanted: Collection[str]) -> None:
    """Raises: ResultUnknown, if it is to go, or a folder that it is in."""
    parts = parts_of(path)
    if any("/".join(parts[:depth]) in unwanted for depth in range(1, len(parts) + 1)):
        raise ResultUnknown


def wish_away(results: Results, path: str, *, by: str) -> None:
    """Have a file or a folder with all that is in it removed.

    Raises:
        ResultUnknown: there is no such file or folder.
    """
    check(path, paths(results))
    *above, name = parts_of(path) or ("",)
    with opening.folder(results, "/".join(above)) as parent:
        try:
            os.stat(name, dir_fd=parent, follow_symlinks=False)
        except OSError as problem:
            raise ResultUnknown from problem
    job_id, place = results.parts
    UnwantedResult.objects.create(job_id=job_id, place=place, path=path, wished_by=by)


def remove(results: Results, path: str, discard: Discard) -> None:
    """Remove it; what is not there any more is no error.

    Raises:
        OSError: the disk refuses it.
    """
    *above, name = parts_of(path)
    try:
        with opening.folder(results, "/".join(above)) as parent:
            try:
                os.unlink(name, dir_fd=parent)
            except IsADirectoryError:
                discard(Path(f"/proc/self/fd/{parent}") / name)
    except (ResultUnknown, FileNotFoundError):
        return
