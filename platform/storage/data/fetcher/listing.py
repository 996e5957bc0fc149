"""Which objects does a source have now? Each by its name, size and version."""

from __future__ import annotations

import asyncio
from typing import Final

from storage.data.fetcher.orders import Away, Changed, Refused
from storage.data.fetcher.stores import Store
from storage.data.listings import Listing, ListingInvalid

_TRIES: Final = 3


async def list_objects(store: Store, *, pause_seconds: float) -> Listing:
    """Ask the store, a few times if it has to be.

    Raises:
        Away: it does not answer.
        Refused: it never will, or what is there cannot be files.
    """
    for attempt in range(_TRIES):
        try:
            return Listing.of([one async for one in store.objects()])
        except ListingInvalid as problem:
            raise Refused(str(problem)) from problem
        except Changed as problem:
            raise Refused(f"{problem} Check the URL and the secret.") from problem
        except Away:
            if attempt == _TRIES - 1:
                raise
            await asyncio.sleep(pause_seconds * 2**attempt)
    raise AssertionError
