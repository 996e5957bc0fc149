"""How does a program talk with a command beside a worker? It reads one answer, and sends pieces.

The pieces that are sent are counted, so that one which is sent again after a broken connection is
taken once.
"""

from __future__ import annotations

import base64
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from concertina.api.request import ApiRequest
from concertina.errors import ConcertinaError, NotFound, Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from concertina.api.answers import ServerEvent
    from concertina.connection.retrying import Clock
    from concertina.connection.transport import Transport

LARGEST_PIECE: Final = 32 << 10  # bytes
BEAT_SECONDS: Final = 20.0  # between two signs of life; the service waits for a minute
_LEAST_SECONDS: Final = 0.11  # between two pieces: the service takes ten requests a second
_AGAIN_SECONDS: Final = 0.2
_PATIENCE_SECONDS: Final = 45.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellPart:
    """Something that the command wrote."""

    data: bytes
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellOutcome:
    """How it ended."""

    end: str  # "exited", or why it was ended
    message: str
    exit_code: int | None


@dataclass(slots=True, kw_only=True)
class RemoteShell:
    """One command beside a worker. Reading and sending may be done in two threads."""

    transport: Transport
    clock: Clock
    job_id: str
    events: Iterator[ServerEvent]
    worker: str = ""
    outcome: ShellOutcome | None = None
    _shell: str = ""
    _number: int = 0
    _sent_at: float = -1.0
    _has_begun: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def parts(self) -> Iterator[ShellPart]:
        """Yield what the command writes, until its `outcome` is known.

        Raises:
            Unreachable: the connection broke, or garbage came; the service then ends the command.
        """
        for event in self.events:
            document = event.document()
            if event.name == "begin":
                self._shell, self.worker = document["shell"], document["worker"]
                self._has_begun.set()
            elif event.name == "end":
                self.outcome = ShellOutcome(
                    end=document["end"],
                    message=document["message"],
                    exit_code=document["exit_code"],
                )
                return
            else:
                data = base64.b64decode(document["data"])
                yield ShellPart(data=data, is_error=event.name == "errors")
        raise Unreachable("The answer ended before the command did; the service ends it now.")

    def send(self, data: bytes = b"", **more: Any) -> bool:
        """Send what is typed, or `is_last`, `rows` and `columns`, a `signal`; False: it is over.

        Raises:
            ConcertinaError: the service refuses it, or cannot be reached for too long.
        """
        with self._lock:
            if not self._has_begun.wait(_PATIENCE_SECONDS):
                return False
            self._number += 1
            body = {"number": self._number, "content": base64.b64encode(data).decode(), **more}
            path = f"/jobs/{self.job_id}/shells/{self._shell}/input"
            return self._sent(path, body)

    def _sent(self, path: str, body: dict[str, Any]) -> bool:
        give_up_at = self.clock.now() + _PATIENCE_SECONDS
        wait_seconds = self._sent_at + _LEAST_SECONDS - self.clock.now()
        if self._sent_at >= 0 and wait_seconds > 0:
            self.clock.sleep(wait_seconds)
        while self.outcome is None:
            self._sent_at = self.clock.now()
            try:
                self.transport.send(ApiRequest.of("POST", path, body=body))
            except NotFound:
                return False
            except Unreachable as error:
                if not self._goes_on(error, give_up_at):
                    raise
            else:
                return True
        return False

    def _goes_on(self, error: ConcertinaError, give_up_at: float) -> bool:
        """True after a moment, if it is worth to send the same again."""
        is_slow = isinstance(error, Unreachable) and error.code == "too_many_requests"
        if not is_slow and self.clock.now() > give_up_at:
            return False
        self.clock.sleep(_AGAIN_SECONDS)
        return True
