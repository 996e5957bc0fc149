"""What can be asked about sweeps, and what can be done with them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from concertina.api.request import one_key
from concertina.connection import paging
from concertina.errors import BadInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from concertina.connection.connection import Send
    from concertina.documents import Sweep, SweepDetail

_PAGE = 100
_MADE = 201  # HTTP's "created"


class Sweeps:
    """The sweeps that the caller may see."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def submit(
        self, spec: dict[str, Any], *, idempotency_key: str | None = None
    ) -> tuple[SweepDetail, bool]:
        """Begin a spec with a `sweep`; the second is False if its key had begun it before."""
        key = one_key(idempotency_key)
        headers = {"Idempotency-Key": key}
        status, answer = self._send("POST", "/sweeps", body=spec, headers=headers)
        return cast("SweepDetail", answer), status == _MADE

    def every(self, *, team: str | None = None) -> Iterator[Sweep]:
        """All of them, the newest first, fetched page by page as they are asked for."""
        return paging.every(self._send, "/sweeps", limit=_PAGE, team=team)

    def read(self, sweep_id: str) -> SweepDetail:
        """Return a sweep with all its trials."""
        return cast("SweepDetail", self._send("GET", f"/sweeps/{sweep_id}")[1])

    def find(self, reference: str) -> SweepDetail:
        """The sweep with this id, or the newest with this name (`name` or `team/name`).

        Raises:
            NotFound: none that this token may see.
            BadInput: sweeps of several teams bear the name.
        """
        if reference.isalnum():
            try:
                return self.read(reference)
            except NotFound:
                pass  # a name may look like an id
        team, _, name = reference.rpartition("/")
        found = [one for one in self.every(team=team or None) if one["name"] == name]
        if not found:
            raise NotFound(
                f"There is no sweep {reference!r}, or this token may not see it. "
                "`concertina sweeps ls` lists those it may."
            )
        teams = sorted({one["team"] for one in found})
        if len(teams) > 1:
            choices = ", ".join(f"{one}/{name}" for one in teams)
            raise BadInput(f"{name!r} is the name of several sweeps. Say which: {choices}.")
        return self.read(found[0]["id"])

    def cancel(self, sweep_id: str, *, reason: str = "") -> SweepDetail:
        """Stop all its trials for good, and have it make no more."""
        body = {"reason": reason} if reason else {}
        return cast("SweepDetail", self._send("POST", f"/sweeps/{sweep_id}/cancel", body=body)[1])
