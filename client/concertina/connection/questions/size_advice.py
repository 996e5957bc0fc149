"""What can be asked about the number of workers that a job needed?"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from concertina.connection.connection import Send
    from concertina.documents import SizeAdvice


class SizeAdvices:
    """What each GPU of a job brought, and with which range it would have wasted less."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def of(self, job_id: str) -> SizeAdvice:
        """Return it; its `verdict` is `unknown` where too little was measured. Raises: NotFound."""
        return cast("SizeAdvice", self._send("GET", f"/jobs/{job_id}/advice")[1])
