"""What may a reader know? A team's members read the names of their own team's jobs only.

Of another team's job they learn which team it is of, and every number. Admins read all names.
Redaction works on values, before words are made of them: no sentence can tell what its value does
not hold.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from autoscaler.planning.decisions.explanation import JobRef

if TYPE_CHECKING:
    from autoscaler.planning.decisions.explanation import Explanation

_NAME_NOBODY: Final = frozenset({str, int, float, bool})  # most of what there is


def seen_by(explanation: Explanation, *, team: str) -> Explanation:
    """The explanation as the members of `team` may read it."""
    return cast("Explanation", _redacted(explanation, team))


def _redacted(value: Any, team: str) -> Any:
    """The same object where there is nothing to hide: most explanations name nobody."""
    if value is None or type(value) in _NAME_NOBODY:
        return value
    if isinstance(value, JobRef):
        return value if value.team == team else replace(value, job_id=None, name=None)
    if isinstance(value, tuple):
        parts = tuple(_redacted(one, team) for one in value)
        is_same = all(new is old for new, old in zip(parts, value, strict=True))
        return value if is_same else parts
    changed = {}
    for name in _field_names(value.__class__):
        part = getattr(value, name)
        if (redacted := _redacted(part, team)) is not part:
            changed[name] = redacted
    return replace(value, **changed) if changed else value


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """None of a value that is no dataclass."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
