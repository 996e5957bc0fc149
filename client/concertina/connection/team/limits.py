"""What can be asked about how many jobs of a team run, and about its GPU-hours of a month?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from concertina.connection.connection import Send
    from concertina.documents import TeamChange, TeamDetail


class LimitsOfTeams:
    """Whoever may see a team's numbers reads them; admins, and leads, change them."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

    def of(self, team: str | None = None) -> TeamDetail:
        """Its limits and `budgets`, among others; by default of the token's own team."""
        return cast("TeamDetail", self._send("GET", self._of_team(team))[1])

    def change(self, changes: Mapping[str, Any], *, team: str | None = None) -> TeamChange:
        """Change some of them; None lifts a limit.

        Raises: NotAllowed, RefusedByService (it is more than a team above has)
        """
        return cast("TeamChange", self._send("PATCH", self._of_team(team), body=dict(changes))[1])
