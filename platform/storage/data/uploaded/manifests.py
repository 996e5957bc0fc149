"""Which files are to be in a folder of data, and what is in them? It comes before their bytes.

A line for each file, `f SIZE NAME` or, for a program, `x SIZE NAME`, in the order of names; then a
line for each block of their bytes one after the other, `b SHA256`. The digest of the folder is that
of this text. So the same files make the same one, and every block is checked when it comes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from storage.data.file_names import FileNameInvalid, check_names
from storage.errors import ManifestInvalid
from storage.uploads.pieces import LARGEST_PIECE

BLOCK: Final = LARGEST_PIECE  # bytes, but for the last one
MOST_FILES: Final = 100_000  # guessed: whoever walks through a folder can cope with so many
LONGEST: Final = 32 << 20  # bytes of a manifest
_FILE: Final = re.compile(r"([fx]) (0|[1-9][0-9]{0,14}) ([^\n]+)")
_BLOCK: Final = re.compile(r"b ([0-9a-f]{64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of a file that is in a block."""

    name: str
    is_program: bool
    start: int  # in the file
    length: int
    is_last: bool  # after it the file is whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The files in the order of names, and the digests of blocks."""

    names: Sequence[str]
    sizes: Sequence[int]
    starts: Sequence[int]  # of each file, among all bytes; at the end, how many there are
    programs: frozenset[int]  # which of the files are
    blocks: Sequence[str]
    folders: int

    @property
    def total(self) -> int:
        """Return the bytes of all files."""
        return self.starts[-1]

    @classmethod
    def of(cls, text: bytes, *, most_bytes: int) -> Manifest:
        """Read one that somebody sent.

        Raises:
            ManifestInvalid: it is none, or there is too much, or a name cannot be one.
        """
        lines = _lines(text, most_bytes)
        files = [found.groups() for line in lines if (found := _FILE.fullmatch(line))]
        blocks = [found[1] for line in lines if (found := _BLOCK.fullmatch(line))]
        if len(files) + len(blocks) != len(lines) or lines[: len(files)] != [
            " ".join(file) for file in files
        ]:
            raise ManifestInvalid("It is no list of files and of blocks after them.")
        names, sizes = [name for _, _, name in files], [int(size) for _, size, _ in files]
        manifest = cls(
            names=names,
            sizes=sizes,
            starts=[0, *accumulate(sizes)],
            programs=frozenset(place for place, file in enumerate(files) if file[0] == "x"),
            blocks=blocks,
            folders=_checked_folders(names),
        )
        _check(manifest, most_bytes)
        return manifest

    def length_of(self, block: int) -> int:
        return min(BLOCK, self.total - block * BLOCK)

    def spans_of(self, block: int) -> Iterator[Span]:
        """Yield what of files is in a block; of empty ones nothing is."""
        at, end = block * BLOCK, block * BLOCK + self.length_of(block)
        place = bisect_right(self.starts, at) - 1
        while at < end:
            until = min(self.starts[place + 1], end)
            if until > at:
                yield Span(
                    name=self.names[place],
                    is_program=place in self.programs,
                    start=at - self.starts[place],
                    length=until - at,
                    is_last=until == self.starts[place + 1],
                )
            at, place = until, place + 1

    def empty_files(self) -> Iterator[tuple[str, bool]]:
        """Yield the names of those without any bytes, and whether each is a program."""
        for place, size in enumerate(self.sizes):
            if not size:
                yield self.names[place], place in self.programs


def _lines(text: bytes, most_bytes: int) -> list[str]:
    if text.count(b"\n") > MOST_FILES + -(-most_bytes // BLOCK):
        raise ManifestInvalid(
            f"There are more than {MOST_FILES} files, or too many blocks. Pack files into larger"
            " ones, such as tar files."
        )
    try:
        lines = text.decode().split("\n")
    except UnicodeDecodeError as error:
        raise ManifestInvalid("A name in it is not UTF-8. Rename the file.") from error
    if lines.pop() != "":
        raise ManifestInvalid("Its last line has no end.")
    return lines


def _check(manifest: Manifest, most_bytes: int) -> None:
    if manifest.total > most_bytes:
        raise ManifestInvalid(
            f"Its files have {manifest.total >> 20} MiB, and may have {most_bytes >> 20}. Put it"
            " into an object store, or ask an admin to raise CONCERTINA_DATA_GB."
        )
    if len(manifest.blocks) != -(-manifest.total // BLOCK):
        raise ManifestInvalid(f"It has {len(manifest.blocks)} blocks, which is not as many as due.")


def _checked_folders(names: Sequence[str]) -> int:
    if not names:
        raise ManifestInvalid("There are no files in it.")
    if any(one >= other for one, other in pairwise(names)):
        raise ManifestInvalid("Its files are not in the order of names, or one is there twice.")
    try:
        return check_names(names, most_folders=MOST_FILES)
    except FileNameInvalid as error:
        raise ManifestInvalid(str(error)) from error
