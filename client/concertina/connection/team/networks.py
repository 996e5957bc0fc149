"""What can be asked about what the jobs of a team may reach?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from concertina.connection.connection import Send
    from concertina.documents import TeamChange, TeamDetail


class TeamNetworks:
    """Everybody of a team may read it; admins change it."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

    def of(self, team: str | None = None) -> TeamDetail:
        """Its `network` and `reachable`, among others; by default of the token's own team."""
        return cast("TeamDetail", self._send("GET", self._of_team(team))[1])

    def change(
        self, network: str, reachable: Sequence[str] | None = None, *, team: str | None = None
    ) -> TeamChange:
        """Let its jobs ask for `isolated`, `listed` or `egress`; `reachable` replaces the list.

        Raises: RefusedByService (it is no list of hosts with ports), NotAllowed (not an admin)
        """
        body: dict[str, Any] = {"network": network}
        if reachable is not None:
            body["reachable"] = list(reachable)
        return cast("TeamChange", self._send("PATCH", self._of_team(team), body=body)[1])
