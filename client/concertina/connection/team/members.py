"""What can be asked about who is in a team?"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from concertina.connection.connection import Send
    from concertina.documents import Invitation, MadeInvitation, Member, MemberList


class TeamMembers:
    """Everybody of a team may read it; leads and admins change it, as persons."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

    def of(self, team: str | None = None) -> MemberList:
        """All with a role in the team, also by one above it; by default the token's own team."""
        return cast("MemberList", self._send("GET", f"{self._of_team(team)}/members")[1])

    def add(self, name: str, role: str, *, team: str | None = None) -> Member:
        """Give an account a role: `viewer`, `member` or `lead`.

        Raises: RefusedByService (no such account, or it has a role already), NotAllowed
        """
        path, body = f"{self._of_team(team)}/members", {"name": name, "role": role}
        return cast("Member", self._send("POST", path, body=body, is_repeatable=False)[1])

    def change(self, name: str, role: str, *, team: str | None = None) -> Member:
        """Give somebody who is in the team another role."""
        path = self._path(name, team)
        return cast("Member", self._send("PATCH", path, body={"role": role})[1])

    def remove(self, name: str, *, team: str | None = None) -> None:
        """Take somebody out of the team; the last lead only as an admin."""
        self._send("DELETE", self._path(name, team), is_repeatable=False)

    def invite(self, role: str, *, mail: str = "", team: str | None = None) -> MadeInvitation:
        """Make a link that makes one person a member, once; with a mail address it is sent, too."""
        path, body = f"{self._of_team(team)}/invitations", {"role": role}
        if mail:
            body["mail"] = mail
        return cast("MadeInvitation", self._send("POST", path, body=body, is_repeatable=False)[1])

    def invitations(self, team: str | None = None) -> list[Invitation]:
        """Those that are open, then those that ended last."""
        found = self._send("GET", f"{self._of_team(team)}/invitations")[1]
        return cast("list[Invitation]", found["items"])

    def revoke_invitation(self, number: int, *, team: str | None = None) -> None:
        """Make an open invitation useless."""
        self._send("DELETE", f"{self._of_team(team)}/invitations/{number}", is_repeatable=False)

    def _path(self, name: str, team: str | None) -> str:
        return f"{self._of_team(team)}/members/{quote(name, safe='')}"
