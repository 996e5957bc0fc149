"""What may a reader know? A team's members read the names of their own team's jobs only.

Of another team's job they learn which team it is of, and every number, unless the installation
shows teams nothing of each other. Admins read all names.
Redaction works on values, before words are made of them: no sentence can tell what its value does
not hold.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from autoscaler.planning.decisions.explanation import OTHER_TEAMS, Holder, JobRef, Owed

if TYPE_CHECKING:
    from autoscaler.planning.decisions.explanation import Explanation

_NAME_NOBODY: Final = frozenset({str, int, float, bool})  # most of what there is


def seen_by(explanation: Explanation, *, team: str, shows_others: bool = True) -> Explanation:
    """The explanation as the members of `team` may read it; of other teams perhaps only sums."""
    return cast("Explanation", _ReadingTeam(team, shows_others).redacted(explanation))


@dataclass(frozen=True, slots=True)
class _ReadingTeam:
    team: str
    shows_others: bool

    def redacted(self, value: Any) -> Any:
        """The same object where there is nothing to hide: most explanations name nobody."""
        if value is None or type(value) in _NAME_NOBODY:
            return value
        if isinstance(value, JobRef):
            return self._job(value)
        if isinstance(value, tuple):
            return self._all(value)
        changed = {}
        for name in _field_names(value.__class__):
            part = getattr(value, name)
            if (redacted := self.redacted(part)) is not part:
                changed[name] = redacted
        if isinstance(value, Owed) and self._hides(value.team):
            hidden = dict.fromkeys(("missing_gpus", "guaranteed_gpus", "entitled_gpus"), 0)
            changed |= {"team": OTHER_TEAMS, **hidden}
        return replace(value, **changed) if changed else value

    def _hides(self, team: str | None) -> bool:
        return team != self.team and not self.shows_others

    def _job(self, job: JobRef) -> JobRef:
        if job.team == self.team:
            return job
        return replace(job, job_id=None, name=None, team=job.team if self.shows_others else None)

    def _all(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if values and isinstance(values[0], Holder):
            return self._holders(values)
        parts = tuple(self.redacted(one) for one in values)
        is_same = all(new is old for new, old in zip(parts, values, strict=True))
        return values if is_same else parts

    def _holders(self, holders: tuple[Holder, ...]) -> tuple[Holder, ...]:
        """Add up those that are not shown."""
        shown = tuple(one for one in holders if not self._hides(one.team))
        if len(shown) == len(holders):
            return holders
        hidden = [one for one in holders if self._hides(one.team)]
        borrowed = sum(one.borrowed_gpus for one in hidden)
        gpus = sum(one.gpus for one in hidden)
        return (*shown, Holder(team=OTHER_TEAMS, gpus=gpus, borrowed_gpus=borrowed))


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """None of a value that is no dataclass."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
