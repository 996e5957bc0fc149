"""What can be asked about templates: which parts of specs does a team keep under a name?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from concertina.connection.connection import Send
    from concertina.documents import Template, TemplateList


class JobTemplates:
    """The templates of teams; by default of the token's own."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

    def all(self, team: str | None = None) -> list[Template]:
        """All that jobs of a team may name, those of teams above it as well."""
        answer = self._send("GET", f"{self._of_team(team)}/templates")[1]
        return cast("TemplateList", answer)["items"]

    def read(self, name: str, *, team: str | None = None) -> Template:
        """The one that a job of the team gets by this name."""
        return cast("Template", self._send("GET", self._path(name, team))[1])

    def add(
        self,
        name: str,
        spec: Mapping[str, Any],
        *,
        description: str = "",
        team: str | None = None,
    ) -> Template:
        """Add a part of a spec. Raises: RefusedByService (it is wrong, or the name is taken)."""
        body = {"name": name, "spec": dict(spec), "description": description}
        path = f"{self._of_team(team)}/templates"
        return cast("Template", self._send("POST", path, body=body, is_repeatable=False)[1])

    def change(
        self, name: str, changes: Mapping[str, Any], *, version: int, team: str | None = None
    ) -> Template:
        """Change some fields of the `version` that was read.

        Raises: RefusedByService (somebody was quicker, or something is wrong).
        """
        path, headers = self._path(name, team), {"If-Match": f'"{version}"'}
        answer = self._send("PATCH", path, body=dict(changes), headers=headers, is_repeatable=False)
        return cast("Template", answer[1])

    def remove(self, name: str, *, team: str | None = None) -> None:
        """Delete it; jobs that began with it stay as they are."""
        self._send("DELETE", self._path(name, team), is_repeatable=False)

    def _path(self, name: str, team: str | None) -> str:
        return f"{self._of_team(team)}/templates/{quote(name, safe='')}"
