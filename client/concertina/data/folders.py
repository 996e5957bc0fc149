"""How does a folder of data become a stream of bytes? Its manifest first, then all files in turn.

Nothing is copied: bytes are read from the files when they are asked for. Links to files within the
folder are followed. See the operation `upload_data` of the API for the form.
"""

from __future__ import annotations

import hashlib
import os
import stat
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOCK: Final = 4 << 20  # bytes
_MOST_FILES: Final = 100_000  # as the service has it


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    path: Path
    name: str
    size: int
    modified: int
    is_program: bool


class FolderStream:
    """A folder that can be read as one file is; the digest is that of its manifest."""

    def __init__(
        self, folder: Path, *, on_read: Callable[[int, int], None] = lambda _read, _total: None
    ) -> None:
        """Read all of it once.

        Raises:
            BadInput: it is no folder, has what cannot be sent, or changes meanwhile.
        """
        if not folder.is_dir():
            raise BadInput(f"{folder} is not a folder. Name the one that holds the data.")
        self._files = sorted(_files_in(folder.resolve()), key=lambda file: file.name)
        if not self._files:
            raise BadInput(f"There are no files in {folder}.")
        if len(self._files) > _MOST_FILES:
            raise BadInput(
                f"{folder} has {len(self._files)} files, and may have {_MOST_FILES}. Pack them into"
                " larger ones, such as tar files."
            )
        self._starts = [0, *accumulate(file.size for file in self._files)]
        self._at = 0
        self._head = b""
        manifest = self._manifest(on_read)
        self.digest = hashlib.sha256(manifest).hexdigest()
        self._head = b"concertina data 1 %08d\n" % len(manifest) + manifest

    @property
    def files(self) -> int:
        return len(self._files)

    @property
    def total(self) -> int:
        """Return the bytes of all files."""
        return self._starts[-1]

    @property
    def length(self) -> int:
        """Return the bytes of the stream."""
        return len(self._head) + self.total

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open between two reads."""

    def seek(self, offset: int, /) -> int:
        self._at = offset
        return offset

    def read(self, size: int, /) -> bytes:
        """Return as many bytes at most, and none beyond the end of the manifest or of a block.

        Raises:
            BadInput: a file has changed since it was read first.
        """
        head = len(self._head)
        if self._at < head:
            found = self._head[self._at : min(self._at + size, head)]
        else:
            start = self._at - head
            end = min(start + size, (start // BLOCK + 1) * BLOCK, self.total)
            found = b"".join(self._content(start, end))
        self._at += len(found)
        return found

    def _content(self, start: int, end: int) -> Iterator[bytes]:
        place = bisect_right(self._starts, start) - 1
        while start < end:
            file, offset = self._files[place], start - self._starts[place]
            length = min(self._starts[place + 1], end) - start
            if length:
                yield _part_of(file, offset, length)
            start, place = start + length, place + 1

    def _manifest(self, on_read: Callable[[int, int], None]) -> bytes:
        lines = [
            f"{'x' if file.is_program else 'f'} {file.size} {file.name}\n" for file in self._files
        ]
        for start in range(0, self.total, BLOCK):
            end = min(start + BLOCK, self.total)
            block = hashlib.sha256()
            for piece in self._content(start, end):
                block.update(piece)
            lines.append(f"b {block.hexdigest()}\n")
            on_read(end, self.total)
        return "".join(lines).encode()


def _files_in(root: Path) -> Iterator[_File]:
    for above, folders, names in os.walk(root, onerror=_refuse):
        for name in folders:
            if (link := Path(above, name)).is_symlink():
                raise BadInput(
                    f"{link} is a link to a folder. Replace it by what it leads to, or name that."
                )
        for name in names:
            yield _file(Path(above, name), root)


def _file(path: Path, root: Path) -> _File:
    name = path.relative_to(root).as_posix()
    try:
        name.encode()
        found = path.stat()
        is_inside = path.resolve().is_relative_to(root)
    except UnicodeEncodeError as error:
        raise BadInput(f"{name!r} is a name that is no text. Rename the file.") from error
    except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links
        raise BadInput(f"{name} cannot be read: {error}.") from error
    if "\n" in name:
        raise BadInput(f"{name!r} has a line break in its name. Rename the file.")
    if not is_inside:
        raise BadInput(f"{name} is a link to {path.resolve()}, which is not in {root}. Copy it.")
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{name} is neither a file nor a folder. Remove it.")
    return _File(
        path=path,
        name=name,
        size=found.st_size,
        modified=found.st_mtime_ns,
        is_program=bool(found.st_mode & 0o111),
    )


def _part_of(file: _File, offset: int, length: int) -> bytes:
    try:
        with file.path.open("rb") as opened:
            found = os.fstat(opened.fileno())
            opened.seek(offset)
            content = opened.read(length)
    except OSError as error:
        raise BadInput(f"{file.name} cannot be read: {error.strerror or error}.") from error
    is_same = (found.st_size, found.st_mtime_ns) == (file.size, file.modified)
    if not is_same or len(content) != length:
        raise BadInput(f"{file.name} has changed while it was read. Try again.")
    return content


def _refuse(error: OSError) -> None:
    raise BadInput(f"{error.filename} cannot be read: {error.strerror}.") from error
