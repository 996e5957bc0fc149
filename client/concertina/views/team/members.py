"""What does a list of a team's members look like?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from concertina.documents import Member


def members_table(members: Iterable[Member]) -> FittingTable:
    table = FittingTable("NAME", "ROLE", "BY TEAM", "LOGS IN")
    for member in members:
        is_active = "yes" if member["is_active"] else "no"
        table.add_row(member["name"], member["role"], member["team"], is_active)
    return table
