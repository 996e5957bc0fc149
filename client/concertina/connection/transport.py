"""How does one request reach the service for who waits for the answer?"""

from __future__ import annotations

from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, TypeVar

from concertina.api.answers import ServerEvent, StreamedResponse, server_events
from concertina.api.request import fits_a_header
from concertina.connection.answers import (
    SILENCE_SECONDS,
    AnswerReader,
    SpokenFor,
    http_settings,
    of_silence,
    without_none,
)
from concertina.connection.http_library import httpx
from concertina.errors import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from concertina.connection.credentials import Credentials

_Piece = TypeVar("_Piece")
NO_TOKEN = "This is not a token: it has characters that no token has."  # noqa: S105 - a sentence


class Transport:
    """One attempt per call: repeating is `retrying`'s business."""

    def __init__(self, credentials: Credentials) -> None:
        if credentials.token and not fits_a_header(credentials.token):
            raise NotAllowed(NO_TOKEN)
        self._url = credentials.url
        self._reader = AnswerReader(credentials.url)
        self._http = httpx.Client(**http_settings(credentials))

    def close(self) -> None:
        self._http.close()

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Any]:
        """Send JSON, or content as it is, and give back the status with the decoded body.

        Raises:
            ConcertinaError: one of its subclasses, for every answer that is no success.
        """
        with self._reader.translated_errors():
            response = self._http.request(
                method,
                path,
                params=without_none(params),
                json=body,
                content=content,
                headers=headers,
            )
        return response.status_code, self._reader.decoded(response)

    def text(self, path: str, params: Mapping[str, Any]) -> str:
        """Return an answer that is text. Raises: ConcertinaError, as `send`."""
        with self._opened(path, params, {}, timeout=self._http.timeout) as response:
            response.read()
            return response.text

    @contextmanager
    def as_person(self, username: str, password: str, send: Callable[..., Any]) -> Iterator[None]:
        """Send requests for a person within, and not for the token's team.

        `send` sends as this does, and tries again: passwords are looked at a few at a time.

        Raises:
            NotAllowed: the name or the password is wrong.
        """
        spoken = SpokenFor(self._url, self._http.headers, self._http.cookies)
        try:
            send("POST", "/session", body={"username": username, "password": password})
            spoken.begin()
            try:
                yield
            finally:
                send("DELETE", "/session")
        finally:
            spoken.end()

    def download(self, path: str, into: IO[bytes]) -> None:
        """Write the answer's body into a file.

        Raises:
            ConcertinaError: as `send`; `Unreachable` also when the connection breaks.
        """
        with self.receive(path, {}, {}) as answer:
            for piece in answer.pieces:
                into.write(piece)

    @contextmanager
    def receive(
        self, path: str, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Iterator[StreamedResponse]:
        """Open an answer of any size.

        Raises:
            ConcertinaError: as `send`; `Unreachable` also when the connection breaks.
        """
        counted = {**headers, "Accept-Encoding": "identity"}  # bytes as they are
        with self._opened(path, params, counted, timeout=self._http.timeout) as response:
            yield StreamedResponse(
                status=response.status_code,
                headers=response.headers,
                pieces=self._read(response.iter_bytes()),
            )

    @contextmanager
    def events(
        self,
        path: str,
        params: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        body: Any = None,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> Iterator[Iterator[ServerEvent]]:
        """Open an event stream, with a body by a POST; gives its events as they come.

        Raises:
            ConcertinaError: as `send`; `Unreachable` also when the stream breaks.
        """
        timeout = of_silence(silence_seconds)
        with self._opened(path, params, headers, timeout=timeout, body=body) as response:
            yield self._read(server_events(response.iter_lines()))

    def _read(self, pieces: Iterable[_Piece]) -> Iterator[_Piece]:
        with self._reader.translated_errors():
            yield from pieces

    @contextmanager
    def _opened(
        self,
        path: str,
        params: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        timeout: httpx.Timeout,
        body: Any = None,
    ) -> Iterator[httpx.Response]:
        """Open an answer whose content is read as it comes; errors are as those of `send`."""
        with (
            self._reader.translated_errors(),
            self._http.stream(
                "GET" if body is None else "POST",
                path,
                params=without_none(params),
                headers=headers,
                timeout=timeout,
                json=body,
            ) as response,
        ):
            if not response.is_success:
                response.read()
                self._reader.decoded(response)
            yield response
