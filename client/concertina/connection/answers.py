"""What does an answer of the service mean, whoever waited for it? Its content, or an error."""

from __future__ import annotations

import os
import re
import ssl
from contextlib import contextmanager
from contextvars import ContextVar
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

from concertina.connection.http_library import httpx
from concertina.errors import ConcertinaError, NotAllowed, NotFound, RefusedByService, Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from concertina.connection.credentials import Credentials

Http = TypeVar("Http", httpx.Client, httpx.AsyncClient)
API: Final = "/api/v1"
TIMEOUT: Final = httpx.Timeout(30.0, connect=5.0)
SILENCE_SECONDS: Final = 60.0  # a silent stream is opened anew
_TEMPORARY = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
_OF_PROXIES = range(520, 531)  # which some answer with where there is no service behind them
_NOT_ACTED_ON = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_BAD_CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"  # as OpenSSL calls it
_HINT = "Log in again: `concertina login URL`, or with a team's `--token ct_…`."
_STREAM = "text/event-stream"
TRACE_VARIABLE: Final = "TRACEPARENT"  # as tools around OpenTelemetry call it
_PLACE_IN_A_TRACE = re.compile(r"[0-9a-f]{2}(-[0-9a-f]+){3}")
_PROOF = "csrftoken"  # the cookie whose value a person's requests repeat


class AnswerReader:
    """Reads what one service answers."""

    def __init__(self, url: str) -> None:
        self._url = url

    def decoded(self, response: httpx.Response) -> Any:
        """Return the content of an answer that is here. Raises: ConcertinaError, for no success."""
        if response.status_code == HTTPStatus.NO_CONTENT:
            return None
        try:
            content = response.json()
        except ValueError:
            content = None
        if response.is_success and content is not None:
            return content
        raise self._error(response, content if isinstance(content, dict) else {})

    def check_stream(self, response: httpx.Response) -> None:
        """Raises: ConcertinaError, for what is no stream of events, such as a page to log in."""
        if not response.headers.get("Content-Type", "").startswith(_STREAM):
            raise Unreachable(_what_else(self._url, response), is_temporary=False)

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Raise errors of ours in place of the library's, also around what is awaited."""
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            if _BAD_CERTIFICATE in str(error):
                raise _untrusted(self._url, error) from error
            cause = str(error) or type(error).__name__
            message = f"{self._url} cannot be reached ({cause})."
            raise Unreachable(message, was_sent=False) from error
        except httpx.RequestError as error:  # such as that it cannot be decompressed
            cause = str(error) or type(error).__name__
            raise Unreachable(f"The connection to {self._url} broke ({cause}).") from error
        except httpx.InvalidURL as error:
            raise Unreachable(f"{self._url}: {error}.", is_temporary=False) from error

    def _error(self, response: httpx.Response, envelope: dict[str, Any]) -> ConcertinaError:
        status = response.status_code
        code, message = envelope.get("code", ""), envelope.get("message", "")
        if status in _TEMPORARY or status in _OF_PROXIES:
            return Unreachable(
                message or f"{self._url} answered with an error ({status}).",
                code=code,
                retry_after_seconds=_seconds(response.headers.get("Retry-After", "")),
                was_sent=status not in _NOT_ACTED_ON,
            )
        if not code:
            return Unreachable(_what_else(self._url, response), is_temporary=False)
        if status == HTTPStatus.UNAUTHORIZED:
            hint = _HINT if "Authorization" in response.request.headers else ""
            return NotAllowed(f"{message} {hint}".strip(), code=code)
        kinds = {int(HTTPStatus.FORBIDDEN): NotAllowed, int(HTTPStatus.NOT_FOUND): NotFound}
        return kinds.get(status, RefusedByService)(
            message, code=code, details=envelope.get("details") or ()
        )


class Speaker(Generic[Http]):
    """Who speaks: whoever has the token, or a person in the thread or task that speaks for one.

    Others who use the same client meanwhile have nothing of the person's rights, and lose nothing.
    """

    def __init__(self, own: Http) -> None:
        self.own: Http = own
        self._person: ContextVar[Http | None] = ContextVar("person", default=None)

    @property
    def http(self) -> Http:
        """The library's client with which to speak here."""
        return self._person.get() or self.own

    @contextmanager
    def being(self, person: Http) -> Iterator[None]:
        """Speak as this one within, here and in tasks that are begun here."""
        before = self._person.get()
        self._person.set(person)
        try:
            yield
        finally:
            self._person.set(before)  # by value: whoever closes this may be another task


def prove(url: str, http: httpx.Client | httpx.AsyncClient) -> None:
    """Repeat from now on the proof that a person's session has given."""
    place = urlsplit(url)
    http.headers["X-CSRFToken"] = http.cookies[_PROOF]
    http.headers["Origin"] = f"{place.scheme}://{place.netloc}"


def http_settings(credentials: Credentials) -> dict[str, Any]:
    """Return what either kind of the library's clients is told of a service."""
    bearer = {"Authorization": f"Bearer {credentials.token}"} if credentials.token else {}
    return {
        "base_url": credentials.url + API,
        "headers": bearer | trace_of(os.environ),
        "timeout": TIMEOUT,
        "verify": _authorities(credentials.url),
    }


def trace_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the header by which the trace goes on of whoever runs this, such as a pipeline."""
    place = environ.get(TRACE_VARIABLE, "")
    return {"traceparent": place} if _PLACE_IN_A_TRACE.fullmatch(place) else {}


def of_silence(seconds: float) -> httpx.Timeout:
    """Return how long a stream may say nothing."""
    return httpx.Timeout(seconds, connect=5.0)


def without_none(params: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (params or {}).items() if value is not None}


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


def _seconds(text: str) -> float:
    try:
        return min(max(float(text), 0.0), 60.0)
    except ValueError:
        return 0.0
