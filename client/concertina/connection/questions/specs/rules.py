"""What can be asked about rules: what does a team say of the specs of its jobs?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from concertina.connection.connection import Send
    from concertina.documents import TeamRules


class RulesOfTeams:
    """The rules of teams; by default of the token's own. Everybody of a team reads them."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

    def of(self, team: str | None = None) -> TeamRules:
        """The rules of a team, and those of teams above it."""
        return cast("TeamRules", self._send("GET", f"{self._of_team(team)}/rules")[1])

    def change(
        self, parts: Mapping[str, Any], *, version: str, team: str | None = None
    ) -> TeamRules:
        """Replace parts of the `version` that was read; None takes one away.

        Raises: NotAllowed, RefusedByService (somebody was quicker, or something is wrong).
        """
        path, headers = f"{self._of_team(team)}/rules", {"If-Match": f'"{version}"'}
        answer = self._send("PATCH", path, body=dict(parts), headers=headers, is_repeatable=False)
        return cast("TeamRules", answer[1])
