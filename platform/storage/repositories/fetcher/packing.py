"""How does a folder of a commit become an archive? The same one as if it had been uploaded.

Names are sorted; owners, times and all of a file's mode but whether it is a program are left out,
as is what ignore files name: `concertina.code.packing` and `ignoring` do the same with a folder of
the disk, and a test compares both. Submodules stay out.
"""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

from storage.code.bounds import CodeBounds
from storage.data.fetcher.orders import UnusableSource

_IGNORE_FILES: Final = (".gitignore", ".concertinaignore")  # the later one wins
_NEVER: Final = frozenset({".git", ".hg", ".svn", "__pycache__", ".ipynb_checkpoints"})
_OF_VIRTUAL_ENVIRONMENTS: Final = "pyvenv.cfg"
_DEEPEST: Final = 50
_SUBMODULE: Final = 0o160000


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """What a folder of a commit has under a name."""

    mode: int
    object_id: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    """How a repository is read."""

    folder: Callable[[bytes], Mapping[str, TreeEntry]]
    content: Callable[[bytes], bytes]


def pack(objects: Objects, root: bytes, archive: Path, bounds: CodeBounds) -> None:
    """Write the compressed archive of a folder.

    Raises:
        UnusableSource: there is too much in it, or what cannot be packed.
    """
    files = size = 0
    with (
        archive.open("wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w|", format=tarfile.GNU_FORMAT) as tar,
    ):
        for name, entry in _entries(objects, root, "", None, _DEEPEST):
            content = objects.content(entry.object_id)
            files, size = files + 1, size + len(content)
            if files > bounds.most_files or size > bounds.most_bytes:
                raise UnusableSource(
                    f"The repository has more than {bounds.most_files} files or"
                    f" {bounds.most_bytes >> 20} MiB up to {name!r}. Name the folder of the code as"
                    " `path`, and what is no code in a .concertinaignore."
                )
            _add(tar, name, entry, content)


def _add(tar: tarfile.TarFile, name: str, entry: TreeEntry, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    if stat.S_ISLNK(entry.mode):
        info.type, info.linkname = tarfile.SYMTYPE, content.decode(errors="surrogateescape")
        tar.addfile(info)
        return
    info.mode = 0o755 if entry.mode & 0o111 else 0o644
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def _entries(
    objects: Objects, folder: bytes, above: str, ignored: _Ignored | None, depth: int
) -> Iterator[tuple[str, TreeEntry]]:
    """Yield what is packed, in the order of names; folders only with what is in them."""
    if not depth:
        raise UnusableSource(f"{above!r} is too deep a folder.")
    found = objects.folder(folder)
    ignored = _Ignored.of(found, objects, above, ignored)
    for name, entry in sorted(found.items()):
        path = f"{above}{name}"
        if entry.mode == _SUBMODULE or name in _NEVER:
            continue
        if not stat.S_ISDIR(entry.mode):
            if not ignored.has(path):
                yield path, entry
        elif not ignored.has(f"{path}/") and not _is_environment(objects, entry):
            yield from _entries(objects, entry.object_id, f"{path}/", ignored, depth - 1)


def _is_environment(objects: Objects, entry: TreeEntry) -> bool:
    return _OF_VIRTUAL_ENVIRONMENTS in objects.folder(entry.object_id)


@dataclass(frozen=True, slots=True)
class _Ignored:
    """What the ignore files of a folder and of those above it say."""

    folder: str
    patterns: GitIgnoreSpec
    above: _Ignored | None

    @classmethod
    def of(
        cls, found: Mapping[str, TreeEntry], objects: Objects, folder: str, above: _Ignored | None
    ) -> _Ignored:
        lines = [
            line
            for name in _IGNORE_FILES
            if (entry := found.get(name)) and stat.S_ISREG(entry.mode)
            for line in objects.content(entry.object_id).decode(errors="replace").splitlines()
        ]
        return cls(folder, GitIgnoreSpec.from_lines(lines), above)

    def has(self, path: str) -> bool:
        is_included = self.patterns.check_file(path.removeprefix(self.folder)).include
        if is_included is None:
            return self.above is not None and self.above.has(path)
        return is_included
