"""What was in an object store when it was looked at? Names, sizes and the store's own versions.

A listing is kept as a file of one JSON line for each object, and is known by its digest: the same
objects in the same versions make the same one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from storage.data.file_names import FileNameInvalid, check_names

MOST_OBJECTS: Final = 200_000  # of a source: a tick, a fetcher and a folder can cope with so many
_MOST_BYTES: Final = 1 << 60  # of a source; guessed: more than any disk has
_LONGEST_VERSION: Final = 1000


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
class ObjectListing:
    """All objects of a source, by name."""

    objects: tuple[StoredObject, ...]

    @classmethod
    def of(cls, found: Iterable[StoredObject]) -> ObjectListing:
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
        try:
            check_names(by_name, most_folders=MOST_OBJECTS)
        except FileNameInvalid as problem:
            raise ListingInvalid(f"Object {problem}") from problem
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
    def read(cls, path: Path) -> ObjectListing:
        with path.open() as file:
            return cls(objects=tuple(StoredObject(**json.loads(line)) for line in file))


def _check(one: StoredObject) -> None:
    if one.size < 0:
        raise ListingInvalid(f"The store says that {one.name!r} has {one.size} bytes.")
    if len(one.version) > _LONGEST_VERSION:
        raise ListingInvalid(f"The store tells too long a version of {one.name!r}.")
    if not one.version:
        raise ListingInvalid(
            f"The store tells no version of {one.name!r}, so nobody would see when it changes. Let"
            " it send ETag or Last-Modified."
        )
