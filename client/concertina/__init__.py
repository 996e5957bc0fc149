"""The client of Concertina: a small Python API, and the command line made of it.

    from concertina import Client

    with Client.from_environment() as client:
        job = client.wait(client.submit(spec).job["id"])

It speaks REST and imports nothing of the service.
"""

from __future__ import annotations

from concertina.client import Client, Submission
from concertina.errors import (
    BadInput,
    ConcertinaError,
    NotAllowed,
    NotFound,
    Refused,
    Unreachable,
)

__all__ = [
    "BadInput",
    "Client",
    "ConcertinaError",
    "NotAllowed",
    "NotFound",
    "Refused",
    "Submission",
    "Unreachable",
]
