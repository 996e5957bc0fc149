"""What does a list of a team's members look like?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from concertina.documents import Invitation, Member


def members_table(members: Iterable[Member]) -> FittingTable:
    table = FittingTable("NAME", "ROLE", "BY TEAM", "LOGS IN")
    for member in members:
        is_active = "yes" if member["is_active"] else "no"
        table.add_row(member["name"], member["role"], member["team"], is_active)
    return table


def invitations_table(invitations: Iterable[Invitation]) -> FittingTable:
    table = FittingTable("ID", "ROLE", "MAIL", "STATE", "INVITED BY", "UNTIL")
    for one in invitations:
        table.add_row(
            str(one["id"]),
            one["role"],
            one["mail"] or words.NOTHING,
            _state(one),
            one["invited_by"],
            words.date_time(one["expires_at"]),
        )
    return table


def _state(invitation: Invitation) -> str:
    if invitation["accepted_at"] is not None:
        return f"accepted by {invitation['accepted_by'] or 'somebody who is gone'}"
    if invitation["revoked_at"] is not None:
        return "revoked"
    return "expired" if words.is_past(invitation["expires_at"]) else "open"
