"""What does one fetcher do? What it reads from its standard input, until that is closed.

    python -m storage.data.fetcher < order

It ends with 0 when it has written down what came of it, and is done for when whoever gave the order
is gone, so that none is left behind.
"""

from __future__ import annotations

import asyncio
import fcntl
import shutil
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from autoscaler.backoff import Backoff
from storage.data.fetcher import confinement, downloading
from storage.data.fetcher.guard import Guard, reach_of
from storage.data.fetcher.listing import list_objects
from storage.data.fetcher.orders import (
    ANOTHER,
    FetchError,
    FetchOrder,
    FetchProgress,
    FetchResult,
    Status,
)
from storage.data.fetcher.stores.opening import open_store
from storage.data.fetcher.stores.port import ObjectStore
from storage.data.listings import ObjectListing

_BETWEEN_TRIES: Final = Backoff(first_seconds=0.5, longest_seconds=10.0)


def main() -> int:
    order = FetchOrder.load(confinement.read_order())
    is_encrypted = all(urlsplit(url).scheme != "http" for url in (order.url, order.endpoint))
    guard = confinement.confine(reach_of(order, is_public=is_encrypted))
    with Path(f"{order.listing}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return ANOTHER
        _outcome(order, guard).write(Path(order.status))
    return 0


def _outcome(order: FetchOrder, guard: Guard) -> Status:
    try:
        return asyncio.run(_do(order))
    except FetchError as problem:
        if guard.refused:
            said = f"The store leads to where nothing may be fetched: {guard.refused}."
            return Status(result=FetchResult.FAILED, problem=said)
        return Status(result=problem.result, problem=str(problem))
    except MemoryError:
        said = "The store sends more than fits into memory. Use fewer and smaller objects."
        return Status(result=FetchResult.FAILED, problem=said)
    except OSError as problem:  # a full disk, say: not the store's doing
        return Status(result=FetchResult.LATER, problem=f"The cache cannot be written: {problem}")


async def _do(order: FetchOrder) -> Status:
    listing_file = Path(order.listing)
    opened = open_store(order.url, endpoint=order.endpoint, credential=order.credential)
    async with aclosing(opened) as store:
        if not order.part:
            listing = await list_objects(store, between_tries=_BETWEEN_TRIES)
            listing.write(listing_file)
        else:
            listing = ObjectListing.read(listing_file)
            await _download(order, listing, store)
    return _done(listing)


async def _download(order: FetchOrder, listing: ObjectListing, store: ObjectStore) -> None:
    folder, part = Path(order.folder), Path(order.part)
    if await asyncio.to_thread(folder.is_dir):  # one that was overtaken has done it
        return
    await asyncio.to_thread(_check_disk, folder.parent, listing, part)
    await downloading.ListingDownload(
        store=store,
        listing=listing,
        part=part,
        folder=folder,
        progress=FetchProgress(Path(order.status), listing.bytes),
        known=downloading.files_of([(Path(one), Path(other)) for one, other in order.known]),
        between_tries=_BETWEEN_TRIES,
    ).run()


def _done(listing: ObjectListing) -> Status:
    return Status(
        result=FetchResult.DONE,
        done_bytes=listing.bytes,
        total_bytes=listing.bytes,
        objects=len(listing.objects),
        version=listing.version,
    )


def _check_disk(cache: Path, listing: ObjectListing, part: Path) -> None:
    """Raises OSError: it would fill the disk."""
    there = sum(one.stat().st_blocks * 512 for one in part.rglob("*") if one.is_file())
    missing = listing.bytes - there - shutil.disk_usage(cache).free
    if missing > 0:
        raise OSError(f"{missing} bytes more are needed on the disk of {cache}")


if __name__ == "__main__":
    sys.exit(main())
