"""How soon does monitoring hear how the service is? It asks every second, from elsewhere.

It is a process of its own: beside a thousand coordinators that one process plays, it would wait for
its own turn longer than for the answer.
"""

from __future__ import annotations

import http.client
import time
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

TIMEOUT_SECONDS: Final = 10.0
_OWN_HOST: Final = "127.0.0.2"  # elsewhere: an address has half of all connections at most
_PAUSE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthQuestions:
    """What monitoring heard."""

    asked: int
    told_well: int  # the rest was refused, or not answered in time
    slowest_seconds: float

    def lines(self) -> list[str]:
        return [
            f"| answers of 200 by /health meanwhile | {self.told_well} of {self.asked} |",
            f"| slowest of these | {self.slowest_seconds:.2f} s |",
        ]


def ask_health(host: str, port: int, seconds: float) -> HealthQuestions:
    """Ask for so long, on a new connection each time."""
    took, told_well = list[float](), 0
    until = time.monotonic() + seconds
    while (began := time.monotonic()) < until:
        told_well += _status(host, port) == HTTPStatus.OK
        took.append(time.monotonic() - began)
        time.sleep(_PAUSE_SECONDS)
    return HealthQuestions(asked=len(took), told_well=told_well, slowest_seconds=max(took))


def _status(host: str, port: int) -> int | None:
    """Return the status of an answer; None: there was none in time."""
    asking = http.client.HTTPConnection(
        host, port, timeout=TIMEOUT_SECONDS, source_address=(_OWN_HOST, 0)
    )
    with closing(asking):
        try:
            asking.request("GET", "/api/v1/health")
            return asking.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
