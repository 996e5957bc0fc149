"""What can be asked about the secrets of a team? All but what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from concertina.connection.connection import Send
    from concertina.documents import Secret


class TeamSecrets:
    """Those of the token's own team, unless another is named."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

    def of(self, team: str | None = None) -> list[Secret]:
        """All, without what is in them."""
        return cast("list[Secret]", self._send("GET", self._path(team))[1]["items"])

    def set(self, name: str, content: dict[str, Any], *, team: str | None = None) -> Secret:
        """Keep `{"kind": "environment", "variables": {…}}`, or a registry's login."""
        return cast("Secret", self._send("PUT", self._path(team, name), body=content)[1])

    def delete(self, name: str, *, team: str | None = None, force: bool = False) -> None:
        """Delete it. Raises: RefusedByService (live jobs need it, and it is not forced)."""
        params = {"force": "true"} if force else None
        self._send("DELETE", self._path(team, name), params=params, is_repeatable=False)

    def _path(self, team: str | None, name: str = "") -> str:
        return f"{self._of_team(team)}/secrets" + (f"/{quote(name, safe='')}" if name else "")
