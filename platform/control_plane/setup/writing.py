"""How do changes become rows? Those that are new are written together, kind by kind.

Nothing is checked here: that has been done. What a change does not name is not written, so two who
change different fields of an object at once do not undo each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cluster.models import Node, Pool, PrefetchedImage
from django.db.models import Model
from tenancy.models import FairShareSettings, ImageRule, Quota, Team, TeamLimits

from control_plane.setup.changes import SetupAction, SetupChange
from control_plane.setup.objects import POOL_OF, SetupKey, SetupKind
from control_plane.setup.stored import FAIR_SHARE, LIMITS, PARENT, StoredSetup
from jobs.changes.demand_signal import announce_demand
from jobs.commands.removal import team_deletion

_PARTS_FIRST: Final = (SetupKind.IMAGE_RULE, SetupKind.QUOTA, SetupKind.PREFETCHED_IMAGE)


def write(stored: StoredSetup, changes: Sequence[SetupChange]) -> None:
    """Write all of them, in the transaction that there is."""
    rows = dict(stored.rows)
    by_action = {action: [one for one in changes if one.action is action] for action in SetupAction}
    removed = by_action[SetupAction.REMOVED]
    for kind in _PARTS_FIRST:
        _delete(rows, _of(removed, kind))
    _create(rows, by_action[SetupAction.CREATED])
    for change in by_action[SetupAction.CHANGED]:
        _change(rows, change)
    _set_parts(rows, [*by_action[SetupAction.CREATED], *by_action[SetupAction.CHANGED]])
    for kind in (SetupKind.NODE, SetupKind.POOL):
        _delete(rows, _of(removed, kind))
    for change in reversed(_from_the_top(stored, _of(removed, SetupKind.TEAM))):
        team_deletion.delete_team(rows[change.key])
    if changes:
        announce_demand()


def _create(rows: dict[SetupKey, Any], created: Sequence[SetupChange]) -> None:
    def keep(kind: SetupKind, model: type[Model], of: Any) -> None:
        chosen = _of(created, kind)
        made = [model(**of(one)) for one in chosen]
        for change, row in zip(chosen, model._default_manager.bulk_create(made), strict=True):  # noqa: SLF001 - Django's name for any model's
            rows[change.key] = row

    keep(SetupKind.POOL, Pool, lambda one: {"name": one.key.name, **_plain(one)})
    for change in _of(created, SetupKind.NODE):  # one by one: each is written down as it joins
        plain = {**_plain(change), POOL_OF: _pool(rows, change.values[POOL_OF])}
        rows[change.key] = Node.objects.create(name=change.key.name, **plain)
    keep(
        SetupKind.PREFETCHED_IMAGE,
        PrefetchedImage,
        lambda one: {"pool": _pool(rows, one.key.of), "image": one.key.name},
    )
    keep(SetupKind.TEAM, Team, lambda one: {"name": one.key.name, **_plain(one)})
    keep(
        SetupKind.QUOTA,
        Quota,
        lambda one: {
            "team": _team(rows, one.key.of),
            "pool": _pool(rows, one.key.name),
            **_plain(one),
        },
    )
    keep(
        SetupKind.IMAGE_RULE,
        ImageRule,
        lambda one: {
            "team": _team(rows, one.key.of) if one.key.of else None,
            "pattern": one.key.name,
        },
    )


def _change(rows: Mapping[SetupKey, Any], change: SetupChange) -> None:
    plain = _plain(change)
    if change.key.kind is SetupKind.NODE and POOL_OF in change.named:
        plain[POOL_OF] = _pool(rows, change.values[POOL_OF])
    if plain:
        row = rows[change.key]
        for name, value in plain.items():
            setattr(row, name, value)
        row.save(update_fields=[*plain])


def _set_parts(rows: Mapping[SetupKey, Any], changes: Sequence[SetupChange]) -> None:
    """Write what stands in rows of its own, and what may name an object that is new."""
    moved = []
    for change in changes:
        row = rows[change.key]
        if change.key.kind is SetupKind.POOL and (sharing := _part(change, FAIR_SHARE)):
            FairShareSettings.objects.update_or_create(pool=row, defaults=sharing)
        if change.key.kind is SetupKind.TEAM:
            if limits := _part(change, LIMITS):
                TeamLimits.objects.update_or_create(team=row, defaults=limits)
            if PARENT in change.named:
                above = change.values[PARENT]
                row.parent = _team(rows, above) if above is not None else None
                moved.append(row)
    Team.objects.bulk_update(moved, [PARENT])


def _delete(rows: Mapping[SetupKey, Any], removed: Sequence[SetupChange]) -> None:
    if removed:
        first = rows[removed[0].key]
        found = type(first)._default_manager.filter(  # noqa: SLF001 - Django's name for any model's
            pk__in=[rows[one.key].pk for one in removed]
        )
        found.delete()


def _from_the_top(stored: StoredSetup, removed: Sequence[SetupChange]) -> list[SetupChange]:
    """Put each team after the one above it."""
    parents = {
        key.name: fields[PARENT]
        for key, fields in stored.objects.items()
        if key.kind is SetupKind.TEAM
    }

    def depth(change: SetupChange) -> int:
        levels, above = 0, parents.get(change.key.name)
        while above is not None:
            levels, above = levels + 1, parents.get(above)
        return levels

    return sorted(removed, key=depth)


def _of(changes: Iterable[SetupChange], kind: SetupKind) -> list[SetupChange]:
    return [one for one in changes if one.key.kind is kind]


def _plain(change: SetupChange) -> dict[str, Any]:
    """Return the values that are columns of the object's own row, and name no other."""
    names_others = {PARENT, POOL_OF}
    return {
        name: value
        for name, value in change.values.items()
        if name not in names_others and "." not in name
    }


def _part(change: SetupChange, part: str) -> dict[str, Any]:
    prefix = f"{part}."
    return {
        name.removeprefix(prefix): value
        for name, value in change.values.items()
        if name.startswith(prefix)
    }


def _pool(rows: Mapping[SetupKey, Any], name: str) -> Pool:
    found: Pool = rows[SetupKey(SetupKind.POOL, "", name)]
    return found


def _team(rows: Mapping[SetupKey, Any], name: str) -> Team:
    found: Team = rows[SetupKey(SetupKind.TEAM, "", name)]
    return found
