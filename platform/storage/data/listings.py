"""What was in an object store when it was looked at? Names, sizes and the store's own versions.

A listing is kept as a file of one JSON line for each object, and is known by its digest: the same
objects in the same versions make the same one.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

MOST_OBJECTS: Final = 200_000  # of a source: a tick, a fetcher and a folder can cope with so many
_MOST_BYTES: Final = 1 << 60  # of a source; guessed: more than any disk has
_LONGEST_NAME: Final = 1000
_LONGEST_VERSION: Final = 1000
_LONGEST_PART: Final = 255  # bytes, of file systems
_DEEPEST: Final = 50


class ListingInvalid(Exception):
    """These objects cannot be files in a folder; the message says which and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """One object of a store, and the file that it becomes."""

    name: str  # of the file, in the source
    address: str  # by which the store knows it
    size: int
    version: str  # the store's own: it changes with the content
    md5: str = ""  # in hexadecimals, as the store tells it; empty: it does not


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All objects of a source, by name."""

    objects: tuple[StoredObject, ...]

    @classmethod
    def of(cls, found: Iterable[StoredObject]) -> Listing:
        """Check that each can be a file, beside all the others.

        Raises:
            ListingInvalid: one cannot, or there are too many, or none.
        """
        by_name: dict[str, StoredObject] = {}
        for one in found:
            _check(one)
            if one.name in by_name:
                raise ListingInvalid(f"Two objects are called {one.name!r}. Rename one.")
            by_name[one.name] = one
        if not by_name:
            raise ListingInvalid("There are no objects at this URL. Check it, or put some there.")
        if len(by_name) > MOST_OBJECTS:
            raise ListingInvalid(
                f"There are more than {MOST_OBJECTS} objects. Pack them into larger ones, such as"
                " tar files."
            )
        _check_folders(by_name)
        listing = cls(objects=tuple(by_name[name] for name in sorted(by_name)))
        if listing.bytes > _MOST_BYTES:
            raise ListingInvalid(
                f"The store says that there are {listing.bytes} bytes at this URL."
            )
        return listing

    @property
    def bytes(self) -> int:
        return sum(one.size for one in self.objects)

    @property
    def version(self) -> str:
        """Return the digest of names, sizes and versions."""
        digest = hashlib.sha256()
        for one in self.objects:
            digest.update(json.dumps([one.name, one.size, one.version]).encode() + b"\n")
        return digest.hexdigest()

    def write(self, path: Path) -> None:
        """Write it so that it is there whole or not at all."""
        part = path.with_name(f"{path.name}.part")
        with part.open("w") as file:
            file.writelines(f"{json.dumps(asdict(one))}\n" for one in self.objects)
        part.replace(path)

    @classmethod
    def read(cls, path: Path) -> Listing:
        with path.open() as file:
            return cls(objects=tuple(StoredObject(**json.loads(line)) for line in file))


def _check(one: StoredObject) -> None:
    parts = one.name.split("/")
    if any(part in {"", ".", ".."} for part in parts) or "\0" in one.name:
        raise ListingInvalid(f"Object {one.name[:80]!r} cannot be a file. Rename it.")
    too_long = any(len(part.encode(errors="replace")) > _LONGEST_PART for part in parts)
    if too_long or len(one.name) > _LONGEST_NAME or len(parts) > _DEEPEST:
        raise ListingInvalid(f"Object {one.name[:80]!r} has too long or too deep a name.")
    if any("\ud800" <= character <= "\udfff" for character in one.name):
        raise ListingInvalid(f"Object {one.name[:80]!r} has a name that is no text. Rename it.")
    if one.size < 0:
        raise ListingInvalid(f"The store says that {one.name!r} has {one.size} bytes.")
    if len(one.version) > _LONGEST_VERSION:
        raise ListingInvalid(f"The store tells too long a version of {one.name!r}.")
    if not one.version:
        raise ListingInvalid(
            f"The store tells no version of {one.name!r}, so nobody would see when it changes. Let"
            " it send ETag or Last-Modified."
        )


def _check_folders(by_name: dict[str, StoredObject]) -> None:
    folders: set[str] = set()
    for name in by_name:
        for folder in _folders_of(name):
            if folder in by_name:
                raise ListingInvalid(
                    f"Object {folder!r} would be a file and, for {name!r}, a folder. Rename one."
                )
            if folder in folders:
                break
            folders.add(folder)
        if len(folders) > MOST_OBJECTS:
            raise ListingInvalid(
                f"Its objects lie in more than {MOST_OBJECTS} folders. Use fewer, or pack them into"
                " larger objects, such as tar files."
            )


def _folders_of(name: str) -> Iterator[str]:
    while name := posixpath.dirname(name):
        yield name
