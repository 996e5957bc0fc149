"""How do changes become rows? Those that are new are written together, kind by kind.

Nothing is checked here: that has been done. What a change does not name is not written, so two who
change different fields of an object at once do not undo each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cluster.models import Node, Pool, PrefetchedImage
from django.db.models import F, Model
from django.utils import timezone
from tenancy.models import FairShareSettings, ImageRule, Quota, Team, TeamLimits
from tenancy.queries import TeamsWithLimits

from control_plane.setup.changes import SetupAction, SetupChange
from control_plane.setup.objects import POOL_OF, SetupKey, SetupKind
from control_plane.setup.stored import FAIR_SHARE, LIMITS, PARENT, RULES, StoredSetup
from jobs.changes.demand_signal import announce_demand
from jobs.commands.removal import team_deletion
from jobs.models import JobTemplate, TeamRules

_AT_ONCE: Final = 200  # rows of an update, whose text grows with each
_PARTS_FIRST: Final = (
    *(SetupKind.TEMPLATE, SetupKind.IMAGE_RULE, SetupKind.QUOTA, SetupKind.PREFETCHED_IMAGE),
)


def write(stored: StoredSetup, changes: Sequence[SetupChange]) -> None:
    """Write all of them, in the transaction that there is."""
    rows = dict(stored.rows)
    _hold_teams(rows, changes)
    by_action = {action: [one for one in changes if one.action is action] for action in SetupAction}
    removed = by_action[SetupAction.REMOVED]
    for kind in _PARTS_FIRST:
        _delete(rows, _of(removed, kind))
    _create(rows, by_action[SetupAction.CREATED])
    _change(rows, by_action[SetupAction.CHANGED])
    _set_parts(rows, [*by_action[SetupAction.CREATED], *by_action[SetupAction.CHANGED]])
    for kind in (SetupKind.NODE, SetupKind.POOL):
        _delete(rows, _of(removed, kind))
    for change in reversed(_from_the_top(stored, _of(removed, SetupKind.TEAM))):
        team_deletion.delete_team(rows[change.key])
    if changes:
        announce_demand()


def _hold_teams(rows: Mapping[SetupKey, Any], changes: Sequence[SetupChange]) -> None:
    """Wait for teams in the order of their rows, as everybody does who holds several."""
    of_teams = [one for one in _of(changes, SetupKind.TEAM) if one.key in rows]
    found = {rows[one.key].pk for one in of_teams}
    ruled = [rows[one.key].pk for one in of_teams if _changes_rules(one)]
    if ruled:  # submissions of teams below are judged by these, too
        found.update(*TeamsWithLimits.read().below_each(ruled).values())
    if found:
        held = Team.objects.select_for_update(no_key=True).filter(pk__in=found).order_by("pk")
        list(held.values_list("pk"))


def _changes_rules(change: SetupChange) -> bool:
    """Tell whether other rules count for the team than did before."""
    return PARENT in change.named or bool(_part(change, RULES))


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
    keep(
        SetupKind.TEMPLATE,
        JobTemplate,
        lambda one: {"team": _team(rows, one.key.of), "name": one.key.name, **_plain(one)},
    )


def _change(rows: Mapping[SetupKey, Any], changed: Sequence[SetupChange]) -> None:
    """Write together what has the same fields changed; nodes one by one, as they are made."""
    alike: dict[tuple[type[Model], tuple[str, ...]], list[Model]] = {}
    now = timezone.now()
    for change in changed:
        plain, row = _plain(change), rows[change.key]
        if change.key.kind is SetupKind.NODE and POOL_OF in change.named:
            plain[POOL_OF] = _pool(rows, change.values[POOL_OF])
        if change.key.kind is SetupKind.TEMPLATE:  # by whom, the audit log says
            plain |= {"version": F("version") + 1, "changed_at": now, "changed_by": ""}
        for name, value in plain.items():
            setattr(row, name, value)
        if plain and change.key.kind is SetupKind.NODE:
            row.save(update_fields=[*plain])
        elif plain:
            alike.setdefault((type(row), tuple(sorted(plain))), []).append(row)
    for (model, fields), some in alike.items():
        model._default_manager.bulk_update(some, fields, batch_size=_AT_ONCE)  # noqa: SLF001 - Django's name for any model's


def _set_parts(rows: Mapping[SetupKey, Any], changes: Sequence[SetupChange]) -> None:
    """Write what stands in rows of its own, and what may name an object that is new."""
    moved = []
    for change in _of(changes, SetupKind.TEAM):
        if PARENT in change.named:
            above = change.values[PARENT]
            rows[change.key].parent = _team(rows, above) if above is not None else None
            moved.append(rows[change.key])
    Team.objects.bulk_update(moved, [PARENT], batch_size=_AT_ONCE)
    _set_part(rows, _of(changes, SetupKind.POOL), FAIR_SHARE, FairShareSettings, "pool")
    _set_part(rows, _of(changes, SetupKind.TEAM), LIMITS, TeamLimits, "team")
    _set_part(rows, _of(changes, SetupKind.TEAM), RULES, TeamRules, "team")


def _set_part(
    rows: Mapping[SetupKey, Any],
    changes: Sequence[SetupChange],
    part: str,
    model: type[Model],
    owner: str,
) -> None:
    """Write the named fields of rows that may not be there yet; others stay, or have defaults."""
    alike: dict[tuple[str, ...], list[Model]] = {}
    for change in changes:
        if said := _part(change, part):
            row = model(**{owner: rows[change.key], **said})
            alike.setdefault(tuple(sorted(said)), []).append(row)
    for fields, some in alike.items():
        model._default_manager.bulk_create(  # noqa: SLF001 - Django's name for any model's
            some, update_conflicts=True, unique_fields=[owner], update_fields=fields
        )


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
