"""How does a folder of results become one stream? As a tar, made while it is read.

It takes the memory of one piece, whatever is in the folder, whose order is the disk's. Files are as
large as they were when their turn came: what a job appends meanwhile is left out, and one that gets
shorter breaks the stream off, because nobody could tell its end from what was there.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Collection, Generator
from typing import Final

from storage.errors import ResultUnknown
from storage.results import opening
from storage.results.folders import DEEPEST, Results

PIECE: Final = 1 << 20
_BLOCK: Final = tarfile.BLOCKSIZE
_END: Final = bytes(2 * _BLOCK)


class FileShrank(Exception):
    """A file got shorter while it was sent."""


def pieces(results: Results, path: str, *, without: Collection[str] = ()) -> Generator[bytes]:
    """Yield the archive of a folder; names in it are seen from that folder.

    Raises:
        ResultUnknown: there is no such folder.
        FileShrank: see above.
    """
    try:
        with opening.folder(results, path) as descriptor:
            prefix = f"{path}/" if path else ""
            hidden = {one.removeprefix(prefix) for one in without if one.startswith(prefix)}
            yield from _of_folder(descriptor, "", hidden)
    except ResultUnknown:
        if path:
            raise
    yield _END


def _of_folder(descriptor: int, above: str, hidden: Collection[str]) -> Generator[bytes]:
    with os.scandir(descriptor) as entries:
        for entry in entries:
            inner = f"{above}{entry.name}"
            if inner in hidden:
                continue
            try:
                if entry.is_dir(follow_symlinks=False) and above.count("/") < DEEPEST:
                    yield from _of_inner(descriptor, entry.name, inner, hidden)
                elif entry.is_file(follow_symlinks=False):
                    yield from _of_file(descriptor, entry.name, inner)
            except (FileNotFoundError, ResultUnknown):  # removed meanwhile
                continue


def _of_inner(parent: int, name: str, inner: str, hidden: Collection[str]) -> Generator[bytes]:
    descriptor = opening.folder_in(parent, name)
    try:
        header = tarfile.TarInfo(inner)
        header.type, header.mode = tarfile.DIRTYPE, 0o755
        header.mtime = int(os.fstat(descriptor).st_mtime)
        yield header.tobuf(tarfile.PAX_FORMAT)
        yield from _of_folder(descriptor, f"{inner}/", hidden)
    finally:
        os.close(descriptor)


def _of_file(parent: int, name: str, inner: str) -> Generator[bytes]:
    file = opening.file_in(parent, name)
    try:
        header = tarfile.TarInfo(inner)
        header.size, header.mode, header.mtime = file.size, 0o644, int(file.modified_at)
        yield header.tobuf(tarfile.PAX_FORMAT)
        yield from content(file, 0, file.size)
        yield bytes(-file.size % _BLOCK)
    finally:
        file.close()


def content(file: opening.OpenFile, start: int, end: int) -> Generator[bytes]:
    """Yield what is between two bytes of a file.

    Raises:
        FileShrank: it got shorter.
    """
    while start < end:
        piece = os.pread(file.descriptor, min(PIECE, end - start), start)
        if not piece:
            raise FileShrank
        start += len(piece)
        yield piece
