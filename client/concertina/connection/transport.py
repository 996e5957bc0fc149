"""How does one request reach the service, and what does a bad answer become?"""

from __future__ import annotations

import ssl
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from concertina.errors import ConcertinaError, NotAllowed, NotFound, RefusedByService, Unreachable

# It loads a command line of its own unless that is missing: a third of what it takes to load.
_IS_FIRST = sys.modules.setdefault("httpx._main", None) is None  # type: ignore[arg-type]  # means: missing
import httpx  # noqa: E402 - see above

if _IS_FIRST:
    del sys.modules["httpx._main"]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from concertina.connection.credentials import Credentials

API = "/api/v1"
_TEMPORARY = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
_NOT_ACTED_ON = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_BAD_CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"  # as OpenSSL calls it
_HINT = "Log in again: `concertina login URL`, or with a team's `--token ct_…`."
_PROOF = "csrftoken"  # the cookie whose value a person's requests repeat
_TIMEOUT = httpx.Timeout(30.0, connect=5.0)
_STREAM_TIMEOUT = httpx.Timeout(60.0, connect=5.0)  # a silent stream is opened anew


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedResponse:
    """An answer that is read once."""

    status: int
    headers: Mapping[str, str]
    pieces: Iterator[bytes]


class Transport:
    """One attempt per call: repeating is `retrying`'s business."""

    def __init__(self, credentials: Credentials) -> None:
        if credentials.token and not fits_a_header(credentials.token):
            raise NotAllowed("This is not a token: it has characters that no token has.")
        self._url = credentials.url
        self._http = httpx.Client(
            base_url=credentials.url + API,
            headers={"Authorization": f"Bearer {credentials.token}"} if credentials.token else {},
            timeout=_TIMEOUT,
            verify=_authorities(credentials.url),
        )

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
        with self._translated_errors():
            response = self._http.request(
                method,
                path,
                params=_without_none(params),
                json=body,
                content=content,
                headers=headers,
            )
        return response.status_code, self._decoded(response)

    @contextmanager
    def as_person(self, username: str, password: str, send: Callable[..., Any]) -> Iterator[None]:
        """Send requests for a person within, and not for the token's team.

        `send` sends as this does, and tries again: passwords are looked at a few at a time.

        Raises:
            NotAllowed: the name or the password is wrong.
        """
        headers, place = self._http.headers, urlsplit(self._url)
        token = headers.pop("Authorization", None)
        try:
            send("POST", "/session", body={"username": username, "password": password})
            headers["X-CSRFToken"] = self._http.cookies[_PROOF]
            headers["Origin"] = f"{place.scheme}://{place.netloc}"
            try:
                yield
            finally:
                send("DELETE", "/session")
        finally:
            for name in ("X-CSRFToken", "Origin"):
                headers.pop(name, None)
            self._http.cookies.clear()
            if token is not None:
                headers["Authorization"] = token

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
                pieces=response.iter_bytes(),
            )

    @contextmanager
    def stream(
        self, path: str, *, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Iterator[Iterator[str]]:
        """Open an event stream; gives its lines as they come.

        Raises:
            ConcertinaError: as `send`; `Unreachable` also when the stream breaks.
        """
        with self._opened(path, params, headers, timeout=_STREAM_TIMEOUT) as response:
            yield response.iter_lines()

    @contextmanager
    def _opened(
        self,
        path: str,
        params: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        timeout: httpx.Timeout,
    ) -> Iterator[httpx.Response]:
        """Open an answer whose content is read as it comes; errors are as those of `send`."""
        with (
            self._translated_errors(),
            self._http.stream(
                "GET", path, params=_without_none(params), headers=headers, timeout=timeout
            ) as response,
        ):
            if not response.is_success:
                response.read()
                self._decoded(response)
            yield response

    def _decoded(self, response: httpx.Response) -> Any:
        if response.status_code == HTTPStatus.NO_CONTENT:
            return None
        try:
            content = response.json()
        except ValueError:
            content = None
        if response.is_success and content is not None:
            return content
        raise self._error(response, content if isinstance(content, dict) else {})

    def _error(self, response: httpx.Response, envelope: dict[str, Any]) -> ConcertinaError:
        status = response.status_code
        code, message = envelope.get("code", ""), envelope.get("message", "")
        if status in _TEMPORARY:
            return Unreachable(
                message or f"{self._url} answered with an error ({status}).",
                code=code,
                retry_after_seconds=_seconds(response.headers.get("Retry-After", "")),
                was_sent=status not in _NOT_ACTED_ON,
            )
        if not code:
            return Unreachable(_what_else(self._url, response), is_temporary=False)
        if status == HTTPStatus.UNAUTHORIZED:
            hint = _HINT if "Authorization" in self._http.headers else ""
            return NotAllowed(f"{message} {hint}".strip(), code=code)
        kinds = {HTTPStatus.FORBIDDEN: NotAllowed, HTTPStatus.NOT_FOUND: NotFound}
        return kinds.get(HTTPStatus(status), RefusedByService)(
            message, code=code, details=envelope.get("details") or ()
        )

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            if _BAD_CERTIFICATE in str(error):
                raise _untrusted(self._url, error) from error
            message = f"{self._url} cannot be reached ({error})."
            raise Unreachable(message, was_sent=False) from error
        except httpx.TransportError as error:
            cause = str(error) or type(error).__name__
            raise Unreachable(f"The connection to {self._url} broke ({cause}).") from error
        except httpx.InvalidURL as error:
            raise Unreachable(f"{self._url}: {error}.", is_temporary=False) from error


def _authorities(url: str) -> bool | ssl.SSLContext:
    """Return who vouches for the service; nobody need be loaded where nothing is encrypted."""
    return url.startswith("https:") or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _what_else(url: str, response: httpx.Response) -> str:
    """Words for an answer that is not the service's."""
    elsewhere = response.next_request.url if response.next_request else None
    if elsewhere is not None and elsewhere.scheme == "https" and url.startswith("http://"):
        return f"{url} is at https://{elsewhere.netloc.decode()} now. Use that address."
    status = response.status_code
    return f"{url} does not answer like Concertina (status {status}). Check the address."


def _untrusted(url: str, error: httpx.TransportError) -> Unreachable:
    problem = str(error).partition(f"{_BAD_CERTIFICATE}] ")[2]
    return Unreachable(
        f"The certificate of {url} is not trusted ({problem}). "
        "If it is of your own authority, let SSL_CERT_FILE name the authority's.",
        is_temporary=False,
        was_sent=False,
    )


def fits_a_header(text: str) -> bool:
    """True if HTTP can carry the text in a header: printable ASCII."""
    return bool(text) and text.isascii() and text.isprintable()


def _without_none(params: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (params or {}).items() if value is not None}


def _seconds(text: str) -> float:
    try:
        return min(max(float(text), 0.0), 60.0)
    except ValueError:
        return 0.0
