"""How is a set-up changed? It is read, compared, checked and written in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import ProtectedError
from tenancy.audit import records
from tenancy.errors import FieldFault

from control_plane.setup import versions
from control_plane.setup.changes import (
    SetupChange,
    SetupPlan,
    after,
    changes_between,
    removal_of,
)
from control_plane.setup.checks import faults_of_rows
from control_plane.setup.errors import (
    SetupChangedMeanwhile,
    SetupInUse,
    SetupObjectExists,
    SetupObjectMissing,
    SetupRefused,
)
from control_plane.setup.in_use import busy_teams, faults_of_use
from control_plane.setup.nesting import WantedSetup
from control_plane.setup.objects import Fields, SetupKey, SetupKind, SetupObjects, version_of
from control_plane.setup.rules import faults_of
from control_plane.setup.stored import RULES, StoredSetup, defaults, read
from control_plane.setup.writing import write

_MOST_AUDITED: Final = 40  # objects of an entry
_PARTS_OF_SPECS: Final = {(SetupKind.TEAM, f"{RULES}.defaults"), (SetupKind.TEMPLATE, "spec")}
_USED_BY_NOW: Final = FieldFault(
    field="",
    problem="Something of it is used now",
    remedy="Look at what would change, and try again.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupOutcome:
    """What changed, or would change, and the version of what is there before and then."""

    plan: SetupPlan
    before: str
    version: str
    objects: SetupObjects


def preview(wanted: WantedSetup, *, removes_others: bool = False) -> SetupOutcome:
    """Return what would change, and change nothing.

    Raises: SetupRefused, SetupInUse.
    """
    return _checked(read(), wanted, removes_others=removes_others)


def apply(
    wanted: WantedSetup, *, removes_others: bool = False, version: str | None = None
) -> SetupOutcome:
    """Change all that is different; with a version only if that is what there is.

    Raises: SetupRefused, SetupInUse, SetupChangedMeanwhile.
    """

    def plan(stored: StoredSetup) -> SetupOutcome:
        if version is not None and version != stored.version:
            raise SetupChangedMeanwhile
        return _checked(stored, wanted, removes_others=removes_others)

    return _written(plan)


def create(key: SetupKey, wanted: WantedSetup) -> SetupOutcome:
    """Make one object.

    Raises: SetupObjectExists, SetupRefused.
    """

    def plan(stored: StoredSetup) -> SetupOutcome:
        if key in stored.objects:
            raise SetupObjectExists(f"There is a {key} already. Change it, or use another name.")
        return _checked(stored, wanted)

    return _written(plan)


def change(key: SetupKey, wanted: Callable[[Fields], WantedSetup]) -> SetupOutcome:
    """Change fields of one object; what is wanted of it may hang on what it is.

    Raises: SetupObjectMissing, SetupRefused, SetupInUse.
    """

    def plan(stored: StoredSetup) -> SetupOutcome:
        return _checked(stored, wanted(_found(stored, key)))

    return _written(plan)


def remove(key: SetupKey) -> SetupOutcome:
    """Remove one object, with what only is as part of it.

    Raises: SetupObjectMissing, SetupRefused, SetupInUse.
    """

    def plan(stored: StoredSetup) -> SetupOutcome:
        _found(stored, key)
        return _allowed(stored, removal_of(stored.objects, key))

    return _written(plan)


def _found(stored: StoredSetup, key: SetupKey) -> Fields:
    if key.kind is SetupKind.NODE and key.name in stored.followed:
        raise SetupObjectMissing(
            f"The {key} comes and goes with its cluster: stop Ray there, or change the pool's"
            " labels. It can be cordoned and drained."
        )
    if key not in stored.objects:
        raise SetupObjectMissing(f"There is no {key}.")
    return stored.objects[key]


def _checked(
    stored: StoredSetup, wanted: WantedSetup, *, removes_others: bool = False
) -> SetupOutcome:
    plan = changes_between(stored.objects, wanted, removes_others=removes_others)
    return _allowed(stored, plan, wanted)


def _allowed(
    stored: StoredSetup, plan: SetupPlan, wanted: WantedSetup | None = None
) -> SetupOutcome:
    """Return what a plan leads to, if it may be carried out."""
    objects = after(stored.objects, plan.changes, defaults())
    twice = wanted.named_twice if wanted else ()
    why = settings.CONCERTINA.worker_host.why_pools_serve_one_team
    faults = faults_of(
        objects,
        plan.changes,
        twice,
        stored.followed,
        why_for_one_team=why,
        busy_teams=busy_teams() if why and plan.changes else {},
    ) or faults_of_rows(objects, plan.changes)
    if faults:
        raise SetupRefused(faults)
    if used := faults_of_use(stored.objects, plan.changes, holds=stored.is_held):
        raise SetupInUse(used)
    return SetupOutcome(
        plan=plan, before=stored.version, version=version_of(objects), objects=objects
    )


def _written(plan: Callable[[StoredSetup], SetupOutcome]) -> SetupOutcome:
    try:
        with transaction.atomic():
            stored = read(is_held=True)
            outcome = plan(stored)
            write(stored, outcome.plan.changes)
            _note(outcome.plan.changes)
            if outcome.plan.changes:
                versions.keep(outcome.objects)
    except ProtectedError as error:
        raise SetupInUse([_USED_BY_NOW]) from error
    return outcome


def _note(changes: tuple[SetupChange, ...]) -> None:
    """Have the audit log say of each object what changed; of many, of the first."""
    shown = changes[:_MOST_AUDITED]
    more = {"(more)": len(changes) - len(shown)} if len(changes) > len(shown) else {}

    def side(name: str) -> dict[str, object]:
        told: dict[str, object] = {
            f"{one.action} {one.key}": {
                part.field: _told(one.key.kind, part.field, getattr(part, name))
                for part in one.fields
            }
            for one in shown
        }
        return {**told, **more}

    records.note_change(before=side("before"), after=side("after"))


def _told(kind: SetupKind, field: str, value: Any) -> object:
    """Return what the audit log tells of a value: of a part of a spec, which fields it has."""
    if (kind, field) in _PARTS_OF_SPECS and isinstance(value, Mapping):
        return sorted(value)
    return value
