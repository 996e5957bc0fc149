"""What can be asked about schedules: what does a team have submitted again and again?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from concertina.api.request import one_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from concertina.connection.connection import Send
    from concertina.documents import Schedule, ScheduleDetail, ScheduleList, ScheduleRun


class Schedules:
    """The schedules of teams; by default of the token's own."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

    def all(self, team: str | None = None) -> list[Schedule]:
        """All of a team, by name, without their specs."""
        answer = self._send("GET", f"{self._of_team(team)}/schedules")[1]
        return cast("ScheduleList", answer)["items"]

    def read(self, name: str, *, team: str | None = None) -> ScheduleDetail:
        """One with its spec and its last runs."""
        return cast("ScheduleDetail", self._send("GET", self._path(name, team))[1])

    def add(
        self,
        name: str,
        spec: dict[str, Any],
        cron: str,
        *,
        time_zone: str = "UTC",
        team: str | None = None,
        **more: Any,
    ) -> ScheduleDetail:
        """Submit a spec again and again, in the name of this token; `more` are other fields.

        Raises: RefusedByService (the spec or the expression is wrong, the name is taken).
        """
        body = {"name": name, "spec": spec, "cron": cron, "time_zone": time_zone, **more}
        path = f"{self._of_team(team)}/schedules"
        return cast("ScheduleDetail", self._send("POST", path, body=body, is_repeatable=False)[1])

    def change(
        self, name: str, changes: dict[str, Any], *, version: int, team: str | None = None
    ) -> ScheduleDetail:
        """Change some fields of the `version` that was read.

        Raises: RefusedByService (somebody was quicker, or something is wrong).
        """
        headers = {"If-Match": f'"{version}"'}
        path = self._path(name, team)
        answer = self._send("PATCH", path, body=changes, headers=headers, is_repeatable=False)[1]
        return cast("ScheduleDetail", answer)

    def pause(self, name: str, *, reason: str = "", team: str | None = None) -> ScheduleDetail:
        """Submit nothing until it is resumed. It may be repeated."""
        body = {"reason": reason} if reason else {}
        return cast(
            "ScheduleDetail", self._send("POST", f"{self._path(name, team)}/pause", body=body)[1]
        )

    def resume(self, name: str, *, team: str | None = None) -> ScheduleDetail:
        """Go on at the next time that is due, in the name of this token. It may be repeated."""
        return cast("ScheduleDetail", self._send("POST", f"{self._path(name, team)}/resume")[1])

    def run(
        self, name: str, *, team: str | None = None, idempotency_key: str | None = None
    ) -> ScheduleRun:
        """Submit its spec now. However often a broken connection makes us repeat it, it is once.

        Raises: RefusedByService (as of any submission, or a job of it lives).
        """
        key = one_key(idempotency_key)
        path, headers = f"{self._path(name, team)}/run", {"Idempotency-Key": key}
        return cast("ScheduleRun", self._send("POST", path, headers=headers)[1])

    def remove(self, name: str, *, team: str | None = None) -> None:
        """Delete it with its runs; the jobs that it submitted stay."""
        self._send("DELETE", self._path(name, team), is_repeatable=False)

    def _path(self, name: str, team: str | None) -> str:
        return f"{self._of_team(team)}/schedules/{quote(name, safe='')}"
