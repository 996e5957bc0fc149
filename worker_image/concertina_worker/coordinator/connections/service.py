"""How does the coordinator reach the service? By one HTTP call that carries both states."""

from __future__ import annotations

import json
from http import HTTPStatus
from http.client import BadStatusLine, HTTPConnection, HTTPException, HTTPSConnection
from typing import Final, Protocol
from urllib.parse import urlsplit

from concertina_worker.protocol import (
    SOON_SECONDS,
    SYNC_PATH,
    Desired,
    DesiredAction,
    SyncReport,
)

TIMEOUT_SECONDS: Final = 10.0
SHORTEST_PAUSE_SECONDS: Final = 0.1  # guessed: between two reports, whatever the service says
LONGEST_PAUSE_SECONDS: Final = 60.0
_REFUSALS: Final = frozenset({"invalid_report", "malformed", "too_large"})


Answer = tuple[int, bytes, str]  # status, content, and when to come again, if that was said


class ControlPlane(Protocol):
    """The port: whoever tells what is desired."""

    def sync(self, report: SyncReport) -> Desired:
        """Deliver the report; return the desired state.

        Raises:
            ServiceUnavailableError: nothing was acknowledged; try again later.
            ReportRefusedError: this very report will never be taken.
            ReplacedError: another coordinator speaks for the job now; never try again.
        """


class HttpService:
    """The service over HTTP, on a connection that is kept from one report to the next."""

    def __init__(self, *, url: str, job_id: str, token: str) -> None:
        address = urlsplit(url.rstrip("/") + SYNC_PATH.format(job_id=job_id))
        kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
        self._connection = kind(address.hostname or "", address.port, timeout=TIMEOUT_SECONDS)
        self._path = address.path
        self.token = token  # the newest

    def sync(self, report: SyncReport) -> Desired:
        try:
            status, content, again_after = self._ask(json.dumps(report).encode())
            if status != HTTPStatus.OK:
                raise _refusal(status, content, again_after)
            document = json.loads(content)
            desired = _desired(document)
        except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
            raise ServiceUnavailableError(str(error)) from error
        self.token = str(document.get("token") or self.token)
        return desired

    def close(self) -> None:
        self._connection.close()

    def _ask(self, body: bytes) -> Answer:
        """Send it; once more if the service has closed a connection that was kept."""
        is_kept = self._connection.sock is not None
        try:
            return self._send(body)
        except (ConnectionError, BadStatusLine):
            if not is_kept:
                raise
            return self._send(body)

    def _send(self, body: bytes) -> Answer:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            self._connection.request("POST", self._path, body, headers)
            answer = self._connection.getresponse()
            return answer.status, answer.read(), answer.headers.get("Retry-After", "")
        except BaseException:
            self._connection.close()
            raise


def _refusal(
    status: int, content: bytes, again_after: str
) -> ReplacedError | ServiceUnavailableError:
    if status == HTTPStatus.CONFLICT:
        return ReplacedError()
    if _is_refused_for_good(status, content):
        return ReportRefusedError(f"HTTP {status}")
    seconds = min(float(again_after), LONGEST_PAUSE_SECONDS) if again_after.isdigit() else 0.0
    return ServiceUnavailableError(f"HTTP {status}", again_after_seconds=seconds)


def _is_refused_for_good(status: int, content: bytes) -> bool:
    """True if the service itself refused it, or a proxy before it refused its size."""
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return True
    if status != HTTPStatus.BAD_REQUEST:
        return False
    try:
        return json.loads(content).get("code") in _REFUSALS
    except (ValueError, AttributeError):
        return False


def _desired(document: dict[str, object]) -> Desired:
    """Check the service's answer: a wrong one is as good as none."""
    desired = Desired(
        action=DesiredAction(str(document["action"])),
        revision=_number(document["revision"]),
        attempt=_number(document["attempt"]),
        workers=_names(document["workers"]),
        global_batch_size=_number(document["global_batch_size"]),
        next_generation=_number(document["next_generation"]),
        report_after_seconds=_seconds(document.get("report_after_seconds", SOON_SECONDS)),
        point_seconds=_seconds(document.get("point_seconds", 0.0), shortest=0.0),
    )
    if desired["workers"] and desired["global_batch_size"] < 1:
        raise ValueError(f"global_batch_size is {desired['global_batch_size']}")
    return desired


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no whole number")
    return value


def _seconds(value: object, *, shortest: float = SHORTEST_PAUSE_SECONDS) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number of seconds")
    return min(max(float(value), shortest), LONGEST_PAUSE_SECONDS)


def _names(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError(f"{value!r} is no list of names")
    return value


class ReplacedError(Exception):
    """Another coordinator has taken over."""


class ServiceUnavailableError(Exception):
    """The service did not answer a sync; it may have said for how long nobody should ask again."""

    def __init__(self, problem: str = "", *, again_after_seconds: float = 0.0) -> None:
        super().__init__(problem)
        self.again_after_seconds = again_after_seconds


class ReportRefusedError(ServiceUnavailableError):
    """The service cannot take this report, today or tomorrow."""
