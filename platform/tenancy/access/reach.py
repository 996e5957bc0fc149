"""Where does a person have which role? A role in a team holds in all teams below it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from django.db import connection

from tenancy.models import Team

# A circle of parents, which is refused, would end this as well: a place is found once.
_PLACES: Final = """
    WITH RECURSIVE place (user_id, team_id, role, is_own) AS (
        SELECT user_id, team_id, role, true FROM tenancy_membership WHERE user_id = ANY(%s)
        UNION
        SELECT place.user_id, team.id, place.role, false
        FROM tenancy_team AS team JOIN place ON team.parent_id = place.team_id
    )
"""
_TEAMS: Final = (  # nothing of these texts comes from outside
    _PLACES  # noqa: S608 - see above
    + """
    SELECT team.*, place.role AS role_there, place.is_own AS is_own_place
    FROM place JOIN tenancy_team AS team ON team.id = place.team_id
    ORDER BY team.name
"""
)
_PAIRS: Final = _PLACES + "SELECT DISTINCT user_id, team_id FROM place"  # noqa: S608 - see above


def teams_of(user_id: int) -> Iterable[Any]:
    """Return the person's teams, once for each role there: `role_there`, and if `is_own_place`.

    It takes one statement, however deep the tree is.
    """
    return Team.objects.raw(_TEAMS, [[user_id]])


def places_of(user_ids: Collection[int]) -> set[tuple[int, int]]:
    """Return each person with each team in which they have a role, in one statement."""
    if not user_ids:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(_PAIRS, [[*user_ids]])
        return {(user, team) for user, team in cursor.fetchall()}
