"""How does a folder become an archive? The same files make the same archive, whoever packs them.

Names are sorted; owners, times and all of a file's mode but whether it is a program are left out.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import stat
import tarfile
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from concertina.code.ignoring import Ignored
from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES: Final = 256 << 20  # as the service has it, unless an admin changed that
MOST_FILES: Final = 20_000
_NAMED: Final = 10  # of the largest files, where there are too many bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedCode:
    """A folder as it was packed. The digest is that of the archive before it was compressed."""

    archive: IO[bytes]
    length: int
    digest: str
    files: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    path: Path
    name: str  # in the archive
    found: os.stat_result


@contextmanager
def packed(folder: Path) -> Iterator[PackedCode]:
    """Pack a folder into a file that goes when this is over.

    Raises:
        BadInput: it is no folder, is too large, has what cannot be packed, or changes meanwhile.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder. Name the one that holds the code.")
    root = folder.resolve()
    entries = list(_entries(root, root, Ignored(root)))
    _check_size(folder, entries)
    with tempfile.TemporaryFile() as file:
        sink = _DigestingSink(file)
        written = cast("IO[bytes]", sink)  # all that a stream of tar needs of a file
        with tarfile.open(fileobj=written, mode="w|", format=tarfile.GNU_FORMAT) as tar:
            for entry in entries:
                _add(tar, entry)
        yield PackedCode(
            length=sink.close(),
            archive=file,
            digest=sink.digest,
            files=len(entries),
            bytes=sum(entry.found.st_size for entry in entries if _is_file(entry)),
        )


class _DigestingSink:
    """Compresses what is written, and computes its digest before that."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._compressed = gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6, mtime=0)

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()

    def write(self, data: bytes, /) -> int:
        self._digest.update(data)
        return self._compressed.write(data)

    def close(self) -> int:
        """Return how many bytes it has become."""
        self._compressed.close()
        length = self._file.tell()
        self._file.seek(0)
        return length


def _entries(folder: Path, root: Path, ignored: Ignored) -> Iterator[_Entry]:
    """Yield what is packed, in the order of names; folders only with what is in them."""
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise BadInput(f"{folder} cannot be read: {error.strerror}.") from error
    for path in paths:
        found = path.lstat()
        is_folder = stat.S_ISDIR(found.st_mode)
        if ignored.has(path, is_folder=is_folder):
            continue
        if is_folder:
            yield from _entries(path, root, Ignored(path, ignored))
        else:
            _check_kind(path, root, found)
            yield _Entry(path=path, name=path.relative_to(root).as_posix(), found=found)


def _check_kind(path: Path, root: Path, found: os.stat_result) -> None:
    name = path.relative_to(root)
    if stat.S_ISLNK(found.st_mode):
        target = path.readlink()
        plain = os.path.normpath(target)
        inside = Path(os.path.normpath(path.parent / target))
        if target.is_absolute() or not inside.is_relative_to(root):
            raise BadInput(
                f"{name} is a link to {target}, which is not within {root}. Copy it there, or name"
                f" {name} in .concertinaignore."
            )
        if str(target) != plain:  # up from a name, which may be a link itself, is anywhere
            raise BadInput(f"{name} is a link to {target}. Let it lead to {plain}.")
    elif not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{name} is neither a file nor a folder. Name it in .concertinaignore.")


def _check_size(folder: Path, entries: list[_Entry]) -> None:
    sizes = {entry.name: entry.found.st_size for entry in entries if _is_file(entry)}
    total = sum(sizes.values())
    if len(entries) > MOST_FILES:
        raise BadInput(
            f"{folder} has {len(entries)} files, and code may have {MOST_FILES}. Name those that"
            " are no code in .concertinaignore."
        )
    if total > MOST_BYTES:
        largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:_NAMED]
        named = ", ".join(f"{name} ({sizes[name] >> 20} MiB)" for name in largest)
        raise BadInput(
            f"{folder} has {total >> 20} MiB, and code may have {MOST_BYTES >> 20} MiB. Name what"
            f" is no code in .concertinaignore; the largest are: {named}."
        )


def _add(tar: tarfile.TarFile, entry: _Entry) -> None:
    info = tarfile.TarInfo(entry.name)
    if not _is_file(entry):
        info.type, info.linkname = tarfile.SYMTYPE, str(entry.path.readlink())
        tar.addfile(info)
        return
    info.mode = 0o755 if entry.found.st_mode & 0o111 else 0o644
    info.size = entry.found.st_size
    try:
        with entry.path.open("rb") as file:
            tar.addfile(info, file)
            has_changed = file.read(1) != b"" or _mark(os.fstat(file.fileno())) != _mark(
                entry.found
            )
    except OSError as error:
        raise BadInput(f"{entry.name} cannot be read: {error}.") from error
    if has_changed:
        raise BadInput(f"{entry.name} has changed while it was packed. Try again.")


def _mark(found: os.stat_result) -> tuple[int, int]:
    return found.st_size, found.st_mtime_ns


def _is_file(entry: _Entry) -> bool:
    return stat.S_ISREG(entry.found.st_mode)
