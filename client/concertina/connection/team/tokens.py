"""What can be asked about the tokens of a team?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from concertina.errors import BadInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from concertina.connection.connection import Send
    from concertina.documents import MadeToken, Token, TokenList

USUAL: Final = 0
"""Stands for as many days as the service gives without being asked."""


class TeamTokens:
    """Leads and admins read and change them, as persons; a token may not."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

    def of(self, team: str | None = None) -> TokenList:
        """Valid ones, then those that ended last; by default of the token's own team."""
        return cast("TokenList", self._send("GET", f"{self._of_team(team)}/tokens")[1])

    def add(
        self,
        name: str,
        *,
        days: int | None = USUAL,
        scopes: Sequence[str] | None = None,
        pools: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        team: str | None = None,
    ) -> MadeToken:
        """Make a token that lasts so many days, None: for ever. Its `key` is told this once.

        It may do what the `scopes` say, `read`, `submit`, `manage-jobs` or `manage-team`; None: all
        that tokens may. With `pools` or `labels` it reaches jobs in one of these pools, and with
        all of these labels, alone.

        Raises: RefusedByService (the name is taken, or it would last too long), NotAllowed
        """
        path = f"{self._of_team(team)}/tokens"
        body: dict[str, Any] = {"name": name, **_lasting(days)}
        if scopes is not None:
            body["scopes"] = list(scopes)
        if pools:
            body["pools"] = list(pools)
        if labels:
            body["labels"] = dict(labels)
        return cast("MadeToken", self._send("POST", path, body=body, is_repeatable=False)[1])

    def rotate(
        self,
        reference: str,
        *,
        overlap_hours: int | None = None,
        days: int | None = USUAL,
        team: str | None = None,
    ) -> MadeToken:
        """Make a token in place of a valid one, which opens so many hours longer."""
        body = _lasting(days)
        if overlap_hours is not None:
            body["overlap_hours"] = overlap_hours
        path = f"{self._path(reference, team)}/rotate"
        return cast("MadeToken", self._send("POST", path, body=body, is_repeatable=False)[1])

    def revoke(self, reference: str, *, team: str | None = None) -> None:
        """Make a token useless at once."""
        self._send("DELETE", self._path(reference, team), is_repeatable=False)

    def find(self, reference: str, *, team: str | None = None) -> Token:
        """The token with this id, or the only valid one with this name.

        Raises:
            NotFound: there is none.
            BadInput: several have the name.
        """
        items = self.of(team)["items"]
        with_id = [one for one in items if str(one["id"]) == reference]
        named = [one for one in items if one["name"] == reference and one["state"] == "valid"]
        found = with_id or named
        if not found:
            raise NotFound(f"The team has no valid token {reference!r}.")
        if len(found) > 1:
            ids = " or ".join(f"{one['id']} ({one['prefix']}…)" for one in found)
            raise BadInput(
                f"{len(found)} valid tokens are called {reference!r}. Give an id: {ids}."
            )
        return found[0]

    def _path(self, reference: str, team: str | None) -> str:
        return f"{self._of_team(team)}/tokens/{self.find(reference, team=team)['id']}"


def _lasting(days: int | None) -> dict[str, Any]:
    return {} if days == USUAL else {"days": days}
