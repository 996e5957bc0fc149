"""How does an archive become a folder of code? Within bounds, and with nothing but files in it.

The digest is that of the tar inside, so that whoever packs the same files makes the same snapshot,
whatever compresses it. An archive that names anything outside its folder is refused by name; so is
whatever is no file, folder or link within it.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import posixpath
import shutil
import tarfile
import zlib
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol

from storage.code.bounds import CodeBounds
from storage.errors import SnapshotInvalid
from storage.uploads.closed import FILE, PROGRAM, close, remove
from storage.uploads.contents import Contents

_READ: Final = 1 << 20
_OVERHEAD: Final = (
    4096  # bytes of a tar for each file, at most: a long name has a header of its own
)
_DEEPEST: Final = 50
_LONGEST_NAME: Final = 1000

_LARGEST_HEADER: Final = 64 << 10  # bytes; a header of this kind is read into memory as a whole
_LONG_HEADERS: Final = frozenset(
    {tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE}
    | {tarfile.SOLARIS_XHDTYPE}
)
_BROKEN: Final = (  # what reading makes of bytes that somebody chose
    tarfile.TarError,
    EOFError,
    zlib.error,
    gzip.BadGzipFile,
    ValueError,  # numbers and texts that are none
    OverflowError,
    RecursionError,  # of headers for headers
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackedArchive(Contents):
    """What was in an archive."""

    digest: str


def unpack(archive: Path, into: Path, bounds: CodeBounds) -> UnpackedArchive:
    """Unpack a compressed archive into a new folder, and close that to changes.

    Raises:
        SnapshotInvalid: it is too large, broken, or names what is not within it; what was unpacked
            so far is gone again.
    """
    into.mkdir()
    try:
        with gzip.open(archive) as compressed:
            source = _Digesting(compressed, bounds.most_bytes + bounds.most_files * _OVERHEAD)
            with tarfile.open(fileobj=source, mode="r|", bufsize=_READ, tarinfo=_Header) as tar:
                unpacking = _Unpacking(into, bounds)
                unpacking.unpack(tar)
            source.drain()
    except _BROKEN as error:
        remove(into)
        problem = f"The archive is broken: {error}. Pack and upload it again."
        raise SnapshotInvalid(problem) from error
    except BaseException:
        remove(into)
        raise
    close(into)
    return UnpackedArchive(
        digest=source.digest,
        files=unpacking.files,
        folders=unpacking.folders,
        bytes=unpacking.bytes,
    )


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class _Digesting(io.BufferedIOBase):
    """Reads on, up to a bound, and computes the digest of what it read."""

    def __init__(self, source: _Readable, most_bytes: int) -> None:
        self._source = source
        self._left = most_bytes
        self._digest = hashlib.sha256()

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()

    def read(self, size: int | None = -1, /) -> bytes:
        data = self._source.read(-1 if size is None else size)
        self._left -= len(data)
        if self._left < 0:
            raise SnapshotInvalid("The archive is larger unpacked than a snapshot may be.")
        self._digest.update(data)
        return data

    def drain(self) -> None:
        while self.read(_READ):
            pass


class _Header(tarfile.TarInfo):
    """A header that takes little memory, whatever it says of itself."""

    def _proc_member(self, tar: tarfile.TarFile) -> Any:
        if self.type in _LONG_HEADERS and self.size > _LARGEST_HEADER:
            raise SnapshotInvalid("There is a header in the archive that is too long.")
        if self.type == tarfile.GNUTYPE_SPARSE:
            _refuse_holes()
        return super()._proc_member(tar)  # type: ignore[misc]  # made to be overridden

    def _proc_gnusparse_00(self, *_: object) -> NoReturn:
        _refuse_holes()

    def _proc_gnusparse_01(self, *_: object) -> NoReturn:
        _refuse_holes()

    def _proc_gnusparse_10(self, *_: object) -> NoReturn:
        _refuse_holes()


def _refuse_holes() -> NoReturn:
    raise SnapshotInvalid("A file in the archive has holes. Pack it without --sparse.")


class _Unpacking:
    """One archive on its way into a folder."""

    def __init__(self, into: Path, bounds: CodeBounds) -> None:
        self._into = into
        self._bounds = bounds
        self._folders = {""}
        self.files = 0
        self.bytes = 0

    @property
    def folders(self) -> int:
        return len(self._folders) - 1

    def unpack(self, tar: tarfile.TarFile) -> None:
        for member in tar:
            self._take(member, tar)

    def _take(self, member: tarfile.TarInfo, tar: tarfile.TarFile) -> None:
        name = member.name.rstrip("/") if member.isdir() else member.name
        _check_name(name)
        self._count(member, name)
        try:
            self._make_folders(posixpath.dirname(name))
            if member.isdir():
                self._make_folders(name)
            elif member.issym():
                self._link(name, member.linkname)
            elif member.isreg():
                self._write(name, member, tar)
            else:
                raise SnapshotInvalid(f"{name!r} is neither a file, a folder nor a link to one.")
        except OSError as error:
            if isinstance(error, FileExistsError | NotADirectoryError):
                raise SnapshotInvalid(f"{name!r} is in the archive twice.") from error
            raise

    def _count(self, member: tarfile.TarInfo, name: str) -> None:
        self.files += 1
        self.bytes += member.size
        if self.files > self._bounds.most_files:
            raise SnapshotInvalid(f"There are more than {self._bounds.most_files} files in it.")
        if self.bytes > self._bounds.most_bytes:
            most = self._bounds.most_bytes >> 20
            raise SnapshotInvalid(f"Up to {name!r} its files have more than {most} MiB already.")

    def _make_folders(self, name: str) -> None:
        """One that is no folder of this archive, such as a link, is in the way."""
        if name in self._folders:
            return
        self._make_folders(posixpath.dirname(name))
        (self._into / name).mkdir()
        self._folders.add(name)
        if self.folders > self._bounds.most_files:
            raise SnapshotInvalid(f"There are more than {self._bounds.most_files} folders in it.")

    def _link(self, name: str, target: str) -> None:
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
        if target.startswith("/") or inside.split("/")[0] == ".." or _is_unclear(target):
            raise SnapshotInvalid(f"{name!r} links to {target!r}, which is not in the archive.")
        (self._into / name).symlink_to(target)

    def _write(self, name: str, member: tarfile.TarInfo, tar: tarfile.TarFile) -> None:
        content = tar.extractfile(member)
        if content is None:
            raise SnapshotInvalid(f"{name!r} has no content.")
        mode = PROGRAM if member.mode & 0o111 else FILE
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(self._into / name, flags, 0o600), "wb") as file:
            shutil.copyfileobj(content, file, _READ)
            os.fchmod(file.fileno(), mode)


def _is_unclear(target: str) -> bool:
    """True if it goes up behind a name: that may be a link, and then up is somewhere else."""
    names = dropwhile(lambda part: part in {"", ".", ".."}, target.split("/"))
    return "\0" in target or ".." in names


def _check_name(name: str) -> None:
    parts = name.split("/")
    if name.startswith("/") or not name or any(part in {"", ".", ".."} for part in parts):
        raise SnapshotInvalid(f"{name!r} is not a name within the archive.")
    if "\0" in name or len(name) > _LONGEST_NAME or len(parts) > _DEEPEST:
        raise SnapshotInvalid(f"{name[:100]!r} is too long or too deep a name.")
