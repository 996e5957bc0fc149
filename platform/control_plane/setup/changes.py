"""What has to change so that a set-up is as a document says? Pure.

Fields that a document does not name stay as they are, and so do objects that it does not name. To
have these removed is a wish of its own, and goes as far only as the groups that it names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from control_plane.setup.nesting import WantedSetup
from control_plane.setup.objects import (
    POOL_OF,
    Fields,
    SetupKey,
    SetupKind,
    SetupObjects,
    group_of,
    order_of,
)


class SetupAction(StrEnum):
    """What becomes of an object."""

    CREATED = "created"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupFieldChange:
    """What a field was, and what it is to be. One that was not there was None."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupChange:
    """What becomes of one object; of one that is new, what the document says of it."""

    key: SetupKey
    action: SetupAction
    fields: tuple[SetupFieldChange, ...] = ()

    @property
    def named(self) -> frozenset[str]:
        return frozenset(one.field for one in self.fields)

    @property
    def values(self) -> dict[str, Any]:
        return {one.field: one.after for one in self.fields}


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupPlan:
    """All changes, in an order that stays the same, and what stays though nobody names it."""

    changes: tuple[SetupChange, ...]
    kept: tuple[SetupKey, ...] = ()


def changes_between(
    current: SetupObjects, wanted: WantedSetup, *, removes_others: bool = False
) -> SetupPlan:
    """Return what makes of the current set-up the one that is wanted."""
    left_out = [
        key
        for key, fields in current.items()
        if key not in wanted.objects and group_of(key, fields) in wanted.whole
    ]
    gone = with_what_belongs_to(left_out, current, wanted) if removes_others else ()
    changes = [*_written(current, wanted.objects), *_removed(current, gone)]
    return SetupPlan(
        changes=tuple(sorted(changes, key=lambda one: order_of(one.key))),
        kept=() if removes_others else tuple(sorted(left_out, key=order_of)),
    )


def removal_of(current: SetupObjects, key: SetupKey) -> SetupPlan:
    """Return what goes with one object, the object included."""
    nothing = WantedSetup(objects={}, whole=frozenset())
    gone = _removed(current, with_what_belongs_to([key], current, nothing))
    return SetupPlan(changes=tuple(sorted(gone, key=lambda one: order_of(one.key))))


def with_what_belongs_to(
    gone: Collection[SetupKey], current: SetupObjects, wanted: WantedSetup
) -> set[SetupKey]:
    """Return these objects, and those that only are as part of them."""
    pools = {key.name for key in gone if key.kind is SetupKind.POOL}
    teams = {key.name for key in gone if key.kind is SetupKind.TEAM}
    parts = {
        key
        for key, fields in current.items()
        if key not in wanted.objects and _is_part(key, fields, pools, teams)
    }
    return {*gone, *parts}


def after(
    current: SetupObjects,
    changes: Sequence[SetupChange],
    defaults: Mapping[SetupKind, Fields],
) -> dict[SetupKey, Fields]:
    """Return the set-up as it is with these changes; new objects begin with defaults."""
    objects = dict(current)
    for change in changes:
        if change.action is SetupAction.REMOVED:
            del objects[change.key]
        else:
            own = objects.get(change.key, defaults[change.key.kind])
            objects[change.key] = {**own, **change.values}
    return objects


def _written(current: SetupObjects, wanted: SetupObjects) -> Iterator[SetupChange]:
    for key, said in wanted.items():
        own = current.get(key)
        action = SetupAction.CREATED if own is None else SetupAction.CHANGED
        fields = tuple(
            SetupFieldChange(field=name, before=None if own is None else own.get(name), after=value)
            for name, value in said.items()
            if own is None or own.get(name) != value
        )
        if own is None or fields:
            yield SetupChange(key=key, action=action, fields=fields)


def _removed(current: SetupObjects, gone: Collection[SetupKey]) -> Iterator[SetupChange]:
    for key in gone:
        fields = tuple(
            SetupFieldChange(field=name, before=value, after=None)
            for name, value in current[key].items()
        )
        yield SetupChange(key=key, action=SetupAction.REMOVED, fields=fields)


def _is_part(key: SetupKey, fields: Fields, pools: set[str], teams: set[str]) -> bool:
    match key.kind:
        case SetupKind.NODE:
            return fields[POOL_OF] in pools
        case SetupKind.PREFETCHED_IMAGE:
            return key.of in pools
        case SetupKind.QUOTA:
            return key.of in teams or key.name in pools
        case SetupKind.IMAGE_RULE | SetupKind.TEMPLATE:
            return key.of in teams
        case _:
            return False
