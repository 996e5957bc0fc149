"""What can be asked about what a team may use of each pool?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from concertina.connection.connection import Send
    from concertina.documents import Quota


class TeamQuotas:
    """Whoever may see a team's numbers reads them; admins, and leads above it, change them."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

    def of(self, team: str | None = None, *, as_of: datetime | None = None) -> list[Quota]:
        """Its quota in each pool that it may use, or might at a moment (with its time zone).

        The team is the token's own unless another is named.

        Raises:
            RefusedByService: nobody wrote quotas down that early.
        """
        params = None if as_of is None else {"as_of": as_of.isoformat()}
        answer = self._send("GET", f"{self._of_team(team)}/quotas", params=params)
        return cast("list[Quota]", answer[1]["items"])

    def change(self, pool: str, changes: Mapping[str, Any], *, team: str | None = None) -> Quota:
        """Change some of its fields; a quota that is not there yet begins with defaults.

        Raises:
            NotAllowed: neither an admin nor a lead of a team above speaks.
            RefusedByService: more is promised than there is.
        """
        path = f"{self._of_team(team)}/quotas/{quote(pool, safe='')}"
        return cast("Quota", self._send("PATCH", path, body=dict(changes))[1])
