"""What lies in a folder of results? A page of it, in the order of names.

A page costs a look at every name of the folder and one at each file of the page, and memory for the
page alone, whatever number of files a job has put there.
"""

from __future__ import annotations

import heapq
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from storage.errors import ResultUnknown
from storage.results import opening
from storage.results.folders import Results


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """A file or a folder."""

    path: str  # below the folder of results
    is_folder: bool
    bytes: int  # 0 of folders: what is in them is not counted here
    modified_at: float  # seconds since 1970


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderPage:
    """Some of a folder; `next_cursor` None: these were the last."""

    entries: tuple[FolderEntry, ...]
    next_cursor: str | None


def page(
    results: Results, path: str, *, after: str, limit: int, without: Collection[str] = ()
) -> FolderPage:
    """Return what comes behind a name; a job that has written nothing has an empty folder.

    Args:
        results: of which job, and which folder of it.
        path: of the folder to look into; empty: the folder of results itself.
        after: the last name that was seen; empty: from the beginning.
        limit: so many at most.
        without: paths that are left out.

    Raises:
        ResultUnknown: there is no such folder.
    """
    try:
        with opening.folder(results, path) as descriptor:
            names = heapq.nsmallest(limit + 1, _names(descriptor, after))
            found = [_entry(descriptor, path, name) for name in names[:limit]]
    except ResultUnknown:
        if path:
            raise
        return FolderPage(entries=(), next_cursor=None)
    hidden = set(without)
    return FolderPage(
        entries=tuple(entry for entry in found if entry and entry.path not in hidden),
        next_cursor=names[limit - 1] if len(names) > limit else None,
    )


def _names(descriptor: int, after: str) -> Iterator[str]:
    """Yield the names that people can be told."""
    with os.scandir(descriptor) as entries:
        for entry in entries:
            if entry.name > after and _is_text(entry.name):
                yield entry.name


def _is_text(name: str) -> bool:
    """Return whether it is text: a name may be any bytes."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def _entry(descriptor: int, path: str, name: str) -> FolderEntry | None:
    try:
        found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except OSError:  # removed meanwhile
        return None
    is_folder = stat.S_ISDIR(found.st_mode)
    if not is_folder and not stat.S_ISREG(found.st_mode):
        return None
    return FolderEntry(
        path=f"{path}/{name}" if path else name,
        is_folder=is_folder,
        bytes=0 if is_folder else found.st_size,
        modified_at=opening.moment(found.st_mtime),
    )
