"""What can be asked about the recent past as it would have been with other quotas?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from concertina.connection.questions.simulations import followed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from concertina.connection.connection import Send
    from concertina.connection.retrying import Clock
    from concertina.documents import QuotaPreview, QuotaPrice


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


class QuotaPrices:
    """Admins, and leads of a team or one above it, ask what its guarantee is worth."""

    def __init__(self, send: Send, clock: Clock) -> None:
        self._send = send
        self._clock = clock

    def request(
        self,
        team: str,
        *,
        pool: str = "default",
        steps: Sequence[int] | None = None,
        days: float = 7.0,
    ) -> QuotaPrice:
        """Ask for it, or be given what somebody asked for alike just now.

        Each step is a number of GPUs that the guarantee has more, or fewer if it is negative.

        Raises:
            NotAllowed: neither an admin nor a lead of the team or one above speaks.
            RefusedByService: a step takes away more than the guarantee has to give.
        """
        body: dict[str, Any] = {"team": team, "pool": pool, "days": days}
        if steps is not None:
            body["steps"] = [*steps]
        return cast("QuotaPrice", self._send("POST", "/quota-prices", body=body)[1])

    def get(self, price_id: str) -> QuotaPrice:
        return cast("QuotaPrice", self._send("GET", f"/quota-prices/{price_id}")[1])

    def cancel(self, price_id: str) -> QuotaPrice:
        return cast("QuotaPrice", self._send("POST", f"/quota-prices/{price_id}/cancel")[1])

    def until_final(
        self, price: QuotaPrice, on_progress: Callable[[QuotaPrice], None]
    ) -> QuotaPrice:
        """Return it when it has ended; it is told about once a second until then."""
        return followed(price, self.get, self._clock, on_progress)
