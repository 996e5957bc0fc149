"""Which objects of a bucket does a URL mean? Those below it as a folder, else the one so named."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from storage.data.listings import MOST_OBJECTS, StoredObject


async def below(
    prefix: str, listed: Callable[[str], AsyncIterator[StoredObject]]
) -> AsyncIterator[StoredObject]:
    """Yield them with their names, `MOST_OBJECTS` and one more at most.

    `listed` tells what begins with a text, in order and without marks of folders; what is called
    exactly so comes first.
    """
    folder = f"{prefix.rstrip('/')}/" if prefix.strip("/") else ""
    found = 0
    async for one in listed(folder):
        if found > MOST_OBJECTS:
            return
        found += 1
        yield replace(one, name=one.address[len(folder) :])
    if not found and folder:
        async for one in listed(prefix):
            if one.address == prefix:
                yield replace(one, name=prefix.rpartition("/")[2])
            return
