"""What do the models say of single objects? What each says of itself, without a question.

What objects say of one another is for `rules`, who sees them as they are after all changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from cluster.models import Node, Pool, PrefetchedImage
from cluster.models.service_urls import check_service_url
from django.core.exceptions import ValidationError
from tenancy.errors import FieldFault
from tenancy.models import Quota, Team

from control_plane.setup.changes import SetupAction, SetupChange
from control_plane.setup.objects import Fields, SetupKind, SetupObjects, path_of
from control_plane.setup.stored import FIELDS, RULES
from jobs.commands.rules import templates
from jobs.errors import SpecInvalid
from jobs.models import JobTemplate
from jobs.spec.rules import rule_set
from jobs.spec.rules.rule_set import PARTS


def faults_of_rows(objects: SetupObjects, changes: Sequence[SetupChange]) -> Sequence[FieldFault]:
    """Return what is wrong with new and changed objects."""
    found: list[FieldFault] = []
    for change in changes:
        if change.action is not SetupAction.REMOVED and change.key.kind in _CHECKS:
            fields = objects[change.key]
            place = path_of(change.key, fields)
            for field, problem in _complaints(change.key.kind, change.key.name, fields):
                found.append(
                    FieldFault(field=f"{place}.{field}", problem="is wrong", remedy=problem)
                )
    return found


def _complaints(kind: SetupKind, name: str, fields: Fields) -> Iterator[tuple[str, str]]:
    for check in _CHECKS[kind](name, fields):
        try:
            check()
        except ValidationError as error:
            for field, messages in error.message_dict.items():
                yield field, " ".join(messages)


def _pool(name: str, fields: Fields) -> Sequence[Callable[[], None]]:
    row = Pool(name=name, **_own(SetupKind.POOL, fields))
    return row.clean_fields, row.clean


def _node(name: str, fields: Fields) -> Sequence[Callable[[], None]]:
    row = Node(name=name, **_own(SetupKind.NODE, fields))
    return (
        lambda: row.clean_fields(exclude={"pool"}),
        row.check_gpu_uuids,
        row.check_host_url,
        lambda: check_service_url(row.service_url),
    )


def _prefetched_image(name: str, _: Fields) -> Sequence[Callable[[], None]]:
    row = PrefetchedImage(image=name)
    return (lambda: row.clean_fields(exclude={"pool"}), row.clean)


def _team(name: str, fields: Fields) -> Sequence[Callable[[], None]]:
    row = Team(name=name, **_own(SetupKind.TEAM, fields))
    return (lambda: row.clean_fields(exclude={"parent"}), lambda: _rules(fields))


def _rules(fields: Fields) -> None:
    """See that its rules can be read. Raises: ValidationError."""
    said = {part: value for part in PARTS if (value := fields[f"{RULES}.{part}"]) is not None}
    _checked_by_jobs(lambda: rule_set.read(said), RULES)


def _template(name: str, fields: Fields) -> Sequence[Callable[[], None]]:
    row = JobTemplate(name=name, **_own(SetupKind.TEMPLATE, fields))
    return (
        lambda: row.clean_fields(exclude={"team", "spec"}),
        lambda: _checked_by_jobs(lambda: templates.checked(row.spec), ""),
    )


def _checked_by_jobs(check: Callable[[], object], place: str) -> None:
    """Tell of problems of specs as models do. Raises: ValidationError."""
    try:
        check()
    except SpecInvalid as error:
        raise ValidationError(
            {
                ".".join(filter(None, (place, one.field))): f"It {one.problem}. {one.remedy}"
                for one in error.problems
            }
        ) from None


def _quota(_: str, fields: Fields) -> Sequence[Callable[[], None]]:
    row = Quota(**_own(SetupKind.QUOTA, fields))
    return (lambda: row.clean_fields(exclude={"team", "pool"}),)


def _own(kind: SetupKind, fields: Fields) -> dict[str, Any]:
    return {name: fields[name] for name in FIELDS[kind]}


_CHECKS: Final[Mapping[SetupKind, Callable[[str, Fields], Sequence[Callable[[], None]]]]] = {
    SetupKind.POOL: _pool,
    SetupKind.NODE: _node,
    SetupKind.PREFETCHED_IMAGE: _prefetched_image,
    SetupKind.TEAM: _team,
    SetupKind.QUOTA: _quota,
    SetupKind.TEMPLATE: _template,
}
