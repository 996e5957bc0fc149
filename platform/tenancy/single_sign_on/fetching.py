"""How does a request to the provider stay within bounds of time, size and place?

It follows no redirect, reads so many bytes for so long, and no more requests are under way than a
few: each takes one of the threads that answer everybody.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Any, Final

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from requests.exceptions import ConnectionError as NotReached

from tenancy.single_sign_on.refusals import ProviderBusy

MOST_BYTES: Final = 256 * 1024  # of an answer; guessed: keys and claims have a few thousand
WAIT_SECONDS: Final = 5.0  # for a connection, and for each part of an answer
WHOLE_SECONDS: Final = 10.0  # for an answer
AT_ONCE: Final = 2  # of one process, of whose threads most so stay free
_PIECE: Final = 16 * 1024

_free: Final = BoundedSemaphore(AT_ONCE)


@contextmanager
def one_of_few() -> Iterator[None]:
    """Hold a place while the provider is asked. Raises: ProviderBusy, at once."""
    if not _free.acquire(blocking=False):
        raise ProviderBusy
    try:
        yield
    finally:
        _free.release()


class BoundedAdapter(HTTPAdapter):
    """Sends requests of a session of `requests`."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, most_bytes: int = MOST_BYTES
    ) -> None:
        self._clock = clock
        self._most_bytes = most_bytes
        super().__init__()

    def send(self, request: PreparedRequest, *_: Any, **options: Any) -> Response:
        """Return the answer, read whole. Raises: NotReached."""
        ends_at = self._clock() + WHOLE_SECONDS
        options |= {"stream": True, "timeout": (WAIT_SECONDS, WAIT_SECONDS)}
        response = super().send(request, **options)
        if response.is_redirect:
            response.close()
            raise NotReached(f"{request.url} redirects elsewhere; name its last address.")
        content = b""
        for piece in response.iter_content(_PIECE):
            content += piece
            if len(content) > self._most_bytes or self._clock() > ends_at:
                response.close()
                raise NotReached(f"{request.url} answers too much, or too slowly.")
        response._content = content  # noqa: SLF001 - `requests` has no other way to bound an answer
        return response
