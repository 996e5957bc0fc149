"""Which files does an image consist of? A tree that is written as the same archive every time."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "1767225600"))  # 2026: each file's time of change


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file, link or folder; a file's content lies on this machine or in memory."""

    mode: int = 0o644
    owner: int = 0  # user and group
    source: Path | None = None
    content: bytes | None = None
    link: str | None = None


class Tree:
    """The files of an image by path, without the leading slash."""

    def __init__(self) -> None:
        """An empty one."""
        self.entries: dict[str, Entry] = {}

    def add_folder(self, path: str, *, mode: int = 0o755, owner: int = 0) -> None:
        self.entries[path] = Entry(mode=mode, owner=owner)

    def add_link(self, path: str, target: str) -> None:
        self.entries[path] = Entry(mode=0o777, link=target)

    def add_text(self, path: str, text: str, *, mode: int = 0o644) -> None:
        self.entries[path] = Entry(mode=mode, content=text.encode())

    def add_bytes(self, path: str, content: bytes) -> None:
        self.entries[path] = Entry(content=content)

    def add_sources(self, path: str, home: Path, files: Iterable[Path]) -> None:
        """Add these files of the folder `home` at their places in the folder `path`."""
        for file in files:
            self.add_file(f"{path}/{file.relative_to(home)}", file)

    def add_file(self, path: str, source: Path) -> None:
        """The content of `source`, also where that is a link."""
        is_program = os.access(source, os.X_OK)
        self.entries[path] = Entry(mode=0o755 if is_program else 0o644, source=source)

    def files(self) -> dict[str, Path]:
        """The entries whose content lies on this machine."""
        return {path: entry.source for path, entry in self.entries.items() if entry.source}

    def archive(self) -> bytes:
        """The archive, in memory."""
        stream = io.BytesIO()
        self.write(stream)
        return stream.getvalue()

    def write(self, stream: IO[bytes]) -> None:
        """Write the archive: in the order of paths, with one time for all, folders before files."""
        self._add_parents()
        with tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT) as archive:
            for path, entry in sorted(self.entries.items()):
                _write(archive, path, entry)

    def _add_parents(self) -> None:
        for path in list(self.entries):
            for parent in PurePosixPath(path).parents:
                if str(parent) != ".":
                    self.entries.setdefault(str(parent), Entry(mode=0o755))


def _write(archive: tarfile.TarFile, path: str, entry: Entry) -> None:
    about = tarfile.TarInfo(path)
    about.mode, about.uid, about.gid, about.mtime = entry.mode, entry.owner, entry.owner, EPOCH
    if entry.link is not None:
        about.type, about.linkname = tarfile.SYMTYPE, entry.link
        archive.addfile(about)
    elif entry.source is not None:
        with entry.source.open("rb") as content:
            about.size = os.fstat(content.fileno()).st_size
            archive.addfile(about, content)
    elif entry.content is not None:
        about.size = len(entry.content)
        archive.addfile(about, io.BytesIO(entry.content))
    else:
        about.type = tarfile.DIRTYPE
        archive.addfile(about)
