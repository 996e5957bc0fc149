"""What of a job's spec may be changed while the job lives, and what does a request change?

A request is a part of a spec: what it names is replaced, what it leaves out stays, and null brings
back the default (JSON merge patch, RFC 7396). Changeable is what only the planner and the rules of
the control loop read; what a process was started with stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from jobs.errors import Problem, SpecInvalid
from jobs.spec.job_spec import NOT_A_MAPPING, JobSpec, parse, without_aliases

OF_PLACE: Final = ("pool", "pools")
"""Fields that say where a job may be: one takes the place of the other, while it holds no GPUs."""
CHANGEABLE: Final = (
    *OF_PLACE,
    "elastic.min_workers",
    "elastic.max_workers",
    "elastic.allowed_workers",
    "elastic.worker_step",
    "elastic.requested_workers",
    "elastic.min_interval",
    "batch.global_batch_size.min",
    "batch.global_batch_size.max",
    "batch.global_batch_size.multiple_of",
    "priority",
    "preemptibility",
    "deadline",
    "max_duration",
    "budget_gpu_hours",
    "idle",
    "notify",
    "retry.max_restarts",
    "labels",
)
_SHOWN_CHARACTERS: Final = 60  # of a value, in a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field of a spec, as it was and as it is now; None where there was or is none."""

    field: str
    before: Any
    after: Any

    def as_data(self) -> dict[str, Any]:
        """Return it for an event; of a long value the beginning, as a sentence has it."""
        return {"from": _bounded(self.before), "to": _bounded(self.after)}

    def __str__(self) -> str:
        return f"{self.field} from {_shown(self.before)} to {_shown(self.after)}"


def changed(resolved: Mapping[str, Any], changes: object) -> tuple[JobSpec, list[FieldChange]]:
    """Return a stored spec with these changes, and the fields that really differ.

    Args:
        resolved: what `JobSpec.resolved` made.
        changes: as somebody sent it.

    Raises:
        SpecInvalid: with every problem found; among them fields that cannot be changed.
    """
    spec = parse(merged(resolved, changes))
    after = spec.resolved(team=spec.team, pool=spec.pool)
    found = list(_differences(resolved, after))
    forbidden = [one for one in found if not _is_changeable(one.field)]
    if forbidden:
        raise SpecInvalid([_kept(one) for one in forbidden])
    return spec, found


def merged(resolved: Mapping[str, Any], changes: object) -> dict[str, Any]:
    """Return a stored spec with these changes, unchecked.

    Raises:
        SpecInvalid: the changes are no part of a spec at all.
    """
    if not isinstance(changes, Mapping):
        raise SpecInvalid([NOT_A_MAPPING])
    plain, before = without_aliases(changes), dict(resolved)
    for name, other in (OF_PLACE, OF_PLACE[::-1]):
        if plain.get(name) and other not in plain:
            before.pop(other, None)
    return _merged(before, plain)


def _merged(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(document)
    for name, value in changes.items():
        before = merged.get(name)
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            merged[name] = _merged(before if isinstance(before, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged


def _differences(
    before: Mapping[str, Any], after: Mapping[str, Any], path: str = ""
) -> Iterator[FieldChange]:
    for name in dict.fromkeys([*before, *after]):
        old, new, field = before.get(name), after.get(name), f"{path}{name}"
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _differences(old, new, f"{field}.")
        elif old != new:
            yield FieldChange(field=field, before=old, after=new)


def _is_changeable(field: str) -> bool:
    return any(field == one or field.startswith(f"{one}.") for one in CHANGEABLE)


def _kept(change: FieldChange) -> Problem:
    return Problem(
        field=change.field,
        value=_shown(change.after),
        problem="cannot be changed while the job lives",
        remedy=f"Leave it out, or start the job again with it: `concertina rerun`. Changeable are:"
        f" {', '.join(CHANGEABLE)}.",
        code="not_changeable",
    )


def _bounded(value: Any) -> Any:
    return value if len(str(value)) <= _SHOWN_CHARACTERS else _shown(value)


def _shown(value: Any) -> str:
    text = "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"
