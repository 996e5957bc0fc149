"""What does `api` order, what does the relay answer, and within which bounds?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final, Self

from cluster.shells import attendant

MOST_OF_JOB: Final = 4  # guessed: a few people look at one job together
MOST_OF_HOLDER: Final = 4  # guessed: a person's windows
MOST_OF_ALL: Final = 24  # guessed: two threads of the relay each
LARGEST_INPUT: Final = 32 << 10  # bytes of one request
MOST_INPUTS: Final = 16  # that wait for the command
MOST_OUTPUTS: Final = 16  # that wait for the reader, of 16 KiB each
TAKEN_SECONDS: Final = 15.0  # within which an order is taken
CLIENT_SECONDS: Final = 60  # after which a client that says nothing counts as gone
LARGEST_COMMAND: Final = 16 << 10  # bytes
SHELL: Final = ("/bin/sh", "-c", "command -v bash >/dev/null && exec bash; exec sh")

OUTPUT: Final = attendant.OUTPUT
ERRORS: Final = attendant.ERRORS
ENDED: Final = attendant.ENDED


class ShellEnd(StrEnum):
    """Why a shell ended."""

    EXITED = "exited"  # the command did, with a status
    CANNOT_START = "cannot_start"
    WORKER_ENDED = "worker_ended"
    IDLE = "idle"
    TOO_LONG = "too_long"
    CLIENT_LEFT = "client_left"
    WITHDRAWN = "withdrawn"  # the token or session holds no longer
    RELAY_LOST = "relay_lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellOrder:
    """One shell that somebody wants."""

    id: str
    job_id: str
    worker: str
    node: str
    command: tuple[str, ...]
    is_terminal: bool
    rows: int
    columns: int
    holder: str  # of the grant
    asked_at: float  # seconds since 1970
    sender: Mapping[str, Any] = field(default_factory=dict)  # of the audit log
    team_id: int = 0

    def text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: bytes | str) -> Self:
        document = json.loads(text)
        return cls(**{**document, "command": tuple(document["command"])})

    @property
    def mark(self) -> str:
        """Return what whoever writes to it must be: the same person, by the same job."""
        return mark(self.holder, self.job_id)

    @property
    def target(self) -> str:
        """Return what the audit log calls it."""
        return f"jobs/{self.job_id}/shells/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellInput:
    """What a client sends at once. It is counted: what comes twice is taken once, none is lost."""

    number: int
    data: bytes = b""
    is_last: bool = False
    rows: int | None = None
    columns: int | None = None
    signal: str = ""

    def packed(self) -> bytes:
        head = {
            "number": self.number,
            "is_last": self.is_last,
            "rows": self.rows,
            "columns": self.columns,
            "signal": self.signal,
        }
        return json.dumps(head).encode() + b"\n" + self.data

    @classmethod
    def read(cls, packed: bytes | str) -> Self:
        whole = packed.encode() if isinstance(packed, str) else packed
        head, _, data = whole.partition(b"\n")
        return cls(**json.loads(head), data=data)


def mark(holder: str, job_id: str) -> str:
    """Return it of a shell that this holder opened; the right to enter the job is asked anew."""
    return f"{holder} of job {job_id}"


def ending(end: ShellEnd, message: str, *, exit_code: int | None = None) -> bytes:
    """Return the last word of a shell."""
    document = {"end": end.value, "message": message, "exit_code": exit_code}
    return ENDED + json.dumps(document).encode()
