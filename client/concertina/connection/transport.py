"""How does one request reach the service for who waits for the answer?"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, Any, TypeVar

from concertina.api.answers import ServerEvent, StreamedResponse, server_events
from concertina.api.request import fits_a_header
from concertina.connection.answers import (
    SILENCE_SECONDS,
    AnswerReader,
    Speaker,
    http_settings,
    of_silence,
    prove,
    without_none,
)
from concertina.connection.credentials import Credentials
from concertina.connection.http_library import httpx
from concertina.errors import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from concertina.api.request import ApiRequest

_Piece = TypeVar("_Piece")
NO_TOKEN = "This is not a token: it has characters that no token has."  # noqa: S105 - a sentence


class Transport:
    """One attempt per call: repeating is `retrying`'s business."""

    def __init__(self, credentials: Credentials) -> None:
        if credentials.token and not fits_a_header(credentials.token):
            raise NotAllowed(NO_TOKEN)
        self._url = credentials.url
        self._reader = AnswerReader(credentials.url)
        self._speaker = Speaker(httpx.Client(**http_settings(credentials)))

    def close(self) -> None:
        self._speaker.own.close()

    @property
    def _http(self) -> httpx.Client:
        return self._speaker.http

    def send(self, request: ApiRequest) -> tuple[int, Any]:
        """Send JSON, or content as it is, and give back the status with the decoded body.

        Raises:
            ConcertinaError: one of its subclasses, for every answer that is no success.
        """
        with self._reader.translated_errors():
            response = self._http.request(
                request.method,
                request.path,
                params=request.params,
                json=request.body,
                content=request.content,
                headers=request.headers,
            )
        return response.status_code, self._reader.decoded(response)

    def text(self, path: str, params: Mapping[str, Any]) -> str:
        """Return an answer that is text. Raises: ConcertinaError, as `send`."""
        with (
            self._opened(path, params, {}, timeout=self._http.timeout) as response,
            self._reader.translated_errors(),
        ):
            response.read()
            return response.text

    @contextmanager
    def as_person(self, username: str, password: str, send: Callable[..., Any]) -> Iterator[None]:
        """Send this thread's requests for a person within, and not for the token's team.

        `send` sends as this does, and tries again: passwords are looked at a few at a time.

        Raises:
            NotAllowed: the name or the password is wrong.
        """
        nobody = http_settings(Credentials(url=self._url, token=""))
        with httpx.Client(**nobody) as http, self._speaker.being(http):
            send("POST", "/session", body={"username": username, "password": password})
            prove(self._url, http)
            try:
                yield
            finally:
                send("DELETE", "/session")

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
            self._reader.check_stream(response)
            yield self._read(server_events(response.iter_bytes()))

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
        """Open an answer whose content is read as it comes; errors are as those of `send`.

        What goes wrong in the caller's own block is the caller's, and stays as it is.
        """
        with ExitStack() as opened:
            with self._reader.translated_errors():
                stream = self._http.stream(
                    "GET" if body is None else "POST",
                    path,
                    params=without_none(params),
                    headers=headers,
                    timeout=timeout,
                    json=body,
                )
                response = opened.enter_context(stream)
                if not response.is_success:
                    response.read()
                    self._reader.decoded(response)
            yield response
