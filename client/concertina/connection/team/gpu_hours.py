"""What can be asked about GPU time that was used, lent and borrowed?"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from concertina.connection.connection import Send
    from concertina.documents import (
        FairnessReceipt,
        GpuUsage,
        MonthReport,
        WholeMonthReport,
    )

_PAGE = 10_000


class GpuHoursFilters(TypedDict, total=False):
    """Whose GPU time, and when. `labels` are `NAME=VALUE`, or `NAME` for any value.

    `time_zone`, as Europe/Berlin, says whose days and months, and those of moments without one.
    """

    team: str | None
    user: str | None
    pool: str | None
    job: str | None
    labels: Iterable[str]
    since: datetime | str | None
    until: datetime | str | None
    time_zone: str | None


class GpuHours:
    """GPU-hours of hours that are closed, which never change."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

    def read(self, by: Iterable[str] = ("team",), **filters: Unpack[GpuHoursFilters]) -> GpuUsage:
        """Return them, all rows, told apart by any of team, user, pool, job and `label:KEY`.

        Also by one of hour, day and month. Those with most GPU time come first.
        """
        asked = {
            "by": ",".join(by),
            "limit": _PAGE,
            "label": list(filters.get("labels", ())) or None,
            **{name: filters.get(name) for name in ("team", "user", "pool", "job", "time_zone")},
            "since": _written(filters.get("since")),
            "until": _written(filters.get("until")),
        }
        answer = cast("GpuUsage", self._send("GET", "/usage", params=asked)[1])
        page = answer
        while page["next_cursor"]:
            more = {**asked, "cursor": page["next_cursor"]}
            page = cast("GpuUsage", self._send("GET", "/usage", params=more)[1])
            answer["items"] += page["items"]
        answer["next_cursor"] = None
        return answer

    def receipt(
        self,
        team: str | None = None,
        *,
        pool: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        time_zone: str | None = None,
    ) -> FairnessReceipt:
        """Tell whether a team was given what it was owed; by default the token's own team.

        Raises: NotFound
        """
        asked = {
            "pool": pool,
            "since": _written(since),
            "until": _written(until),
            "time_zone": time_zone,
        }
        path = f"{self._of_team(team)}/fairness-receipt"
        return cast("FairnessReceipt", self._send("GET", path, params=asked)[1])

    def report(self, month: str = "latest", *, team: str | None = None) -> MonthReport:
        """Tell what a month, as 2026-11, was for a team; by default the token's own team.

        `latest` is the month that was over last. Raises: NotFound
        """
        path = f"{self._of_team(team)}/reports/{month}"
        return cast("MonthReport", self._send("GET", path)[1])

    def report_of_all(self, month: str = "latest") -> WholeMonthReport:
        """Tell what a month was for all teams together; for admins. Raises: NotAllowed."""
        return cast("WholeMonthReport", self._send("GET", f"/reports/{month}")[1])


def _written(moment: datetime | str | None) -> str | None:
    return moment if moment is None or isinstance(moment, str) else moment.isoformat()
