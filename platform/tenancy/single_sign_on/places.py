"""Which roles does a person have by the provider's groups? Those that people gave stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from tenancy.access.members import MOST_MEMBERS
from tenancy.models import Membership, Team

Changes = dict[str, Any]


def bring_up_to_date(person: User, roles: Mapping[str, str]) -> tuple[Changes, Changes]:
    """Give and take roles in teams; return what the changed ones were and are, by team.

    In a team in which somebody has given the person a role, that one holds, weaker or stronger. A
    team that is not there, or is full, is left out. To be called within a transaction.
    """
    places = {
        place.team.name: place
        for place in Membership.objects.filter(user=person).select_related("team")
    }
    given = {name: place for name, place in places.items() if place.from_provider}
    former = {name: place.role for name, place in given.items()}
    wanted = {name: role for name, role in roles.items() if name in given or name not in places}
    if wanted == former:
        return {}, {}
    teams = _held(set(wanted) | set(given))
    for name, role in wanted.items():
        if name in given:
            _change(given[name], role)
        elif name not in teams or not _add(person, teams[name], role):
            continue
    ended = [place.pk for name, place in given.items() if name not in wanted]
    Membership.objects.filter(pk__in=ended, from_provider=True).delete()
    now = dict(
        Membership.objects.filter(user=person, from_provider=True).values_list("team__name", "role")
    )
    changed = {name for name in former.keys() | now.keys() if former.get(name) != now.get(name)}
    return (
        {name: former[name] for name in sorted(changed) if name in former},
        {name: now[name] for name in sorted(changed) if name in now},
    )


def _held(names: set[str]) -> Mapping[str, Team]:
    """Hold these teams until the transaction ends, as whoever changes their members does."""
    found = Team.objects.select_for_update(no_key=True).filter(name__in=names).order_by("pk")
    return {team.name: team for team in found}


def _change(place: Membership, role: str) -> None:
    if place.role != role:
        Membership.objects.filter(pk=place.pk, from_provider=True).update(role=role)


def _add(person: User, team: Team, role: str) -> bool:
    """Return False if there is no room for one more, or if somebody has just added them."""
    if Membership.objects.filter(team=team).count() >= MOST_MEMBERS:
        return False
    _, is_new = Membership.objects.get_or_create(
        team=team, user=person, defaults={"role": role, "from_provider": True}
    )
    return is_new
