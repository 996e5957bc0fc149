"""Which objects does a source have now? Each by its name, size and version."""

from __future__ import annotations

import asyncio
from typing import Final

from autoscaler.backoff import Backoff
from storage.data.fetcher.orders import ObjectChanged, SourceAway, UnusableSource
from storage.data.fetcher.stores.port import ObjectStore
from storage.data.listings import ListingInvalid, ObjectListing

_TRIES: Final = 3
_LONGEST_SECONDS: Final = 1800.0  # guessed: ten times what a bucket of the most objects takes


async def list_objects(store: ObjectStore, *, between_tries: Backoff) -> ObjectListing:
    """Ask the store, a few times if it has to be.

    Raises:
        SourceAway: it does not answer.
        UnusableSource: it never will, or what is there cannot be files.
    """
    for attempt in range(1, _TRIES + 1):
        try:
            async with asyncio.timeout(_LONGEST_SECONDS):
                return ObjectListing.of([one async for one in store.objects()])
        except TimeoutError as problem:
            raise UnusableSource(
                f"The store takes longer than {_LONGEST_SECONDS / 60:.0f} min to say what it has."
                " Use fewer objects, or larger ones such as tar files."
            ) from problem
        except ListingInvalid as problem:
            raise UnusableSource(str(problem)) from problem
        except ObjectChanged as problem:
            raise UnusableSource(f"{problem} Check the URL and the secret.") from problem
        except SourceAway:
            if attempt == _TRIES:
                raise
            await asyncio.sleep(between_tries.seconds_after(attempt))
    raise AssertionError
