"""What does a store offer to those who fetch from it?"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final, Protocol

from storage.data.listings import StoredObject

CHUNK_BYTES: Final = 1 << 20
CONNECT_SECONDS: Final = 15.0
SILENCE_SECONDS: Final = 60.0  # guessed: of a store that is asked; then it is asked again


class ObjectStore(Protocol):
    """The port."""

    def objects(self) -> AsyncIterator[StoredObject]:
        """Yield what there is at its URL, `MOST_OBJECTS` and one more at most."""

    def read(self, one: StoredObject, start: int, end: int) -> AsyncGenerator[bytes]:
        """Yield these bytes of an object; fewer or more if the store sends so."""

    async def parts(self, one: StoredObject) -> int | None:
        """Return the bytes of each part of which its version is the digest; None: it is none."""

    async def aclose(self) -> None:
        """End its connections."""
