"""What may a reader know? A team's members read the names of their own team's jobs only.

Of another team's job they learn which team it is of, and every number. Admins read all names.
Redaction works on values, before words are made of them: no sentence can tell what its value does
not hold.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from autoscaler.planning.explanations.values import JobRef

if TYPE_CHECKING:
    from autoscaler.planning.explanations.values import Explanation


def seen_by(explanation: Explanation, *, team: str) -> Explanation:
    """The explanation as the members of `team` may read it."""
    return cast("Explanation", _redacted(explanation, team))


def _redacted(value: Any, team: str) -> Any:
    if isinstance(value, JobRef):
        return value if value.team == team else replace(value, job_id=None, name=None)
    if isinstance(value, tuple):
        return tuple(_redacted(one, team) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return replace(value, **{name: _redacted(part, team) for name, part in parts.items()})
    return value
