"""What can be asked about prices of GPU-hours, and what can admins set?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from concertina.connection.connection import Send
    from concertina.documents import GpuPrice

_PATH = "/gpu-prices"


class GpuPrices:
    """What a GPU-hour of each pool costs, each price from a day of UTC on."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def read(self, pool: str | None = None) -> Sequence[GpuPrice]:
        """All that were ever set, by pool; of each the oldest first."""
        answer: Any = self._send("GET", _PATH, params={"pool": pool})[1]
        return cast("Sequence[GpuPrice]", answer["items"])

    def set_price(
        self, pool: str, since: date, per_gpu_hour: float, *, changes_past: bool = False
    ) -> GpuPrice:
        """Have GPU-hours of the pool cost so much from this day on.

        Raises: NotAllowed (not an admin), NotFound (no such pool), RefusedByService (the day is
        past, and `changes_past` is not said).
        """
        body = {"per_gpu_hour": per_gpu_hour, "changes_past": changes_past}
        return cast("GpuPrice", self._send("PUT", f"{_PATH}/{pool}/{since}", body=body)[1])

    def take_back(self, pool: str, since: date, *, changes_past: bool = False) -> None:
        """Have the price before hold on. Raises: as `set_price`."""
        params = {"changes_past": "true"} if changes_past else {}
        self._send("DELETE", f"{_PATH}/{pool}/{since}", params=params)
