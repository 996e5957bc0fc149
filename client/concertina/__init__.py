"""The client of Concertina: a small Python API, and the command line made of it.

    from concertina import Client

    with Client.from_environment() as client:
        job = client.wait(client.submit(spec).job["id"])

It speaks REST and imports nothing of the service. `AsyncClient` is for programs that await.

- `client`, `async_client`: what a program can ask; `api`: every operation, by its name there
- `documents`, `vocabulary`: what the service answers with, in types and in words
- `submissions`: what became of what was sent
- `errors`, `exit_codes`: what can go wrong, and how a command then ends
- `connection`: how the service is reached; `code`, `data`: how folders get there
- `conversion`: what a job of another system would be here
- `results`: how what jobs leave behind comes here
- `main`, `commands`: the command line; `input` is what a person gave it, `views` what they see,
  `terminal` how a command speaks to them
- `states`, `words`: which states a job has, and how numbers and times are written for people
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from concertina.errors import (
    BadInput,
    ConcertinaError,
    NotAllowed,
    NotFound,
    RefusedByService,
    Unreachable,
)
from concertina.submissions import BulkSubmission, Submission

if TYPE_CHECKING:
    from concertina.async_client import AsyncClient
    from concertina.client import Client

__all__ = [
    "AsyncClient",
    "BadInput",
    "BulkSubmission",
    "Client",
    "ConcertinaError",
    "NotAllowed",
    "NotFound",
    "RefusedByService",
    "Submission",
    "Unreachable",
]


if not TYPE_CHECKING:  # to whom every misspelled name would be one that is found here

    def __getattr__(name: str) -> Any:
        """Load a client when somebody names it: the command line's help has no use for HTTP."""
        if name == "Client":
            from concertina.client import Client  # noqa: PLC0415 - see above

            return Client
        if name == "AsyncClient":
            from concertina.async_client import AsyncClient  # noqa: PLC0415 - see above

            return AsyncClient
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
