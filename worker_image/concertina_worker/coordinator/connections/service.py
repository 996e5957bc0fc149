"""How does the coordinator reach the service? By one HTTP call that carries both states."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from http import HTTPStatus
from typing import Final, Protocol

from concertina_worker.protocol import SYNC_PATH, Desired, DesiredAction, SyncReport

TIMEOUT_SECONDS: Final = 10.0
_REFUSALS: Final = frozenset({"invalid_report", "malformed", "too_large"})


class Service(Protocol):
    """The port: whoever tells what is desired."""

    def sync(self, report: SyncReport) -> Desired:
        """Deliver the report; return the desired state.

        Raises:
            ServiceUnavailableError: nothing was acknowledged; try again later.
            ReportRefusedError: this very report will never be taken.
            ReplacedError: another coordinator speaks for the job now; never try again.
        """


class HttpService:
    """The service over HTTP."""

    def __init__(self, *, url: str, job_id: str, token: str) -> None:
        self._url = url.rstrip("/") + SYNC_PATH.format(job_id=job_id)
        self._token = token

    def sync(self, report: SyncReport) -> Desired:
        request = urllib.request.Request(  # noqa: S310 - the service's own URL
            self._url,
            data=json.dumps(report).encode(),
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
            },
            method="POST",
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
                if answer.status != HTTPStatus.OK:
                    raise ServiceUnavailableError(f"HTTP {answer.status}")
                document = json.load(answer)
                desired = _desired(document)
                self._token = str(document.get("token") or self._token)
                return desired
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ServiceUnavailableError(str(error)) from error


def _refusal(error: urllib.error.HTTPError) -> ReplacedError | ServiceUnavailableError:
    if error.code == HTTPStatus.CONFLICT:
        return ReplacedError()
    if _is_refused_for_good(error):
        return ReportRefusedError(str(error))
    return ServiceUnavailableError(str(error))


def _is_refused_for_good(error: urllib.error.HTTPError) -> bool:
    """True if the service itself refused it, or a proxy before it refused its size."""
    if error.code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return True
    if error.code != HTTPStatus.BAD_REQUEST:
        return False
    try:
        return json.load(error).get("code") in _REFUSALS
    except (OSError, ValueError, AttributeError):
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
    )
    if desired["workers"] and desired["global_batch_size"] < 1:
        raise ValueError(f"global_batch_size is {desired['global_batch_size']}")
    return desired


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no whole number")
    return value


def _names(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError(f"{value!r} is no list of names")
    return value


class ReplacedError(Exception):
    """Another coordinator has taken over."""


class ServiceUnavailableError(Exception):
    """The service did not answer a sync."""


class ReportRefusedError(ServiceUnavailableError):
    """The service cannot take this report, today or tomorrow."""
