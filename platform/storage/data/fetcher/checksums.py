"""Is a file what the store has? Compared with the digest that the store tells, if it tells one.

S3's version of an object is the MD5 of its content or, of one that was uploaded in parts, the MD5
of the MD5s of these, and how many there are. Where a store tells no digest, the size has to do, and
its own version before and after.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

from storage.data.fetcher.stores.port import ObjectStore
from storage.data.listings import StoredObject

_READ: Final = 1 << 20
_IN_PARTS: Final = re.compile(r"([0-9a-f]{32})-([0-9]{1,5})")


async def part_bytes(one: StoredObject, store: ObjectStore) -> int | None:
    """Return the bytes of each part of an object that was uploaded in parts; None: it was not."""
    return await store.parts(one) if _IN_PARTS.fullmatch(one.version) else None


def is_as_stored(path: Path, one: StoredObject, part_size: int | None) -> bool:
    """True if the file has the digest that the store tells, or the store tells none."""
    if path.stat().st_size != one.size:
        return False
    if part_size and (found := _IN_PARTS.fullmatch(one.version)):
        if -(-one.size // part_size) != int(found[2]):
            return True  # its parts are not equally long, so nobody can tell
        return _of_parts(path, part_size) == (found[1], int(found[2]))
    return not one.md5 or _md5(path) == one.md5


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, _new).hexdigest()


def _of_parts(path: Path, part_size: int) -> tuple[str, int]:
    digests = []
    with path.open("rb") as file:
        while data := file.read(min(part_size, _READ)):
            digest, left = _new(), part_size - len(data)
            digest.update(data)
            while left and (data := file.read(min(left, _READ))):
                digest.update(data)
                left -= len(data)
            digests.append(digest.digest())
    whole = _new()
    whole.update(b"".join(digests))
    return whole.hexdigest(), len(digests)


def _new() -> hashlib._Hash:
    return hashlib.md5(usedforsecurity=False)
