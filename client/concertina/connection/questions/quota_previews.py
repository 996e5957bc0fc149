"""What can be asked about what other quotas would have meant for the recent past?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from concertina.connection.questions.simulations import followed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from concertina.connection.connection import Send
    from concertina.connection.retrying import Clock
    from concertina.documents import QuotaPreview


class QuotaPreviews:
    """Admins, and leads of the teams above, preview what they may change."""

    def __init__(self, send: Send, clock: Clock) -> None:
        self._send = send
        self._clock = clock

    def request(
        self,
        quotas: Sequence[Mapping[str, Any]] = (),
        *,
        pools: Sequence[Mapping[str, Any]] = (),
        days: float = 7.0,
    ) -> QuotaPreview:
        """Ask for a preview, or be given the one that somebody asked for alike just now.

        Raises:
            NotAllowed: neither an admin nor a lead of a team above speaks.
            RefusedByService: more is promised than there would be.
        """
        body = {"quotas": [*quotas], "pools": [*pools], "days": days}
        return cast("QuotaPreview", self._send("POST", "/quota-previews", body=body)[1])

    def get(self, preview_id: str) -> QuotaPreview:
        return cast("QuotaPreview", self._send("GET", f"/quota-previews/{preview_id}")[1])

    def cancel(self, preview_id: str) -> QuotaPreview:
        return cast("QuotaPreview", self._send("POST", f"/quota-previews/{preview_id}/cancel")[1])

    def until_final(
        self, preview: QuotaPreview, on_progress: Callable[[QuotaPreview], None]
    ) -> QuotaPreview:
        """Return it when it has ended; it is told about once a second until then."""
        return followed(preview, self.get, self._clock, on_progress)
