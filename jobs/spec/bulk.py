"""Which jobs does a bulk ask for? A list of specs, or one spec and what is changed in each job.

A change names fields as messages about specs do: `elastic.max_workers`, `env.LR`, `command[3]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from jobs.errors import Problem, SpecInvalid

MOST_JOBS: Final = 1000
MOST_MIB: Final = 16  # of a spec, times the jobs it is for; guessed: each has parts of its own
_PATH: Final = re.compile(r"[^.\[\]]+(?:\.[^.\[\]]+|\[[0-9]{1,4}\])*")
_STEP: Final = re.compile(r"\[([0-9]+)\]|\.?([^.\[\]]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayTrial:
    """One of the jobs of an array, and what sets it apart from the others."""

    array: str  # its name
    number: int  # from 1
    values: Mapping[str, Any]  # by parameter
    max_running: int | None  # of the array's jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class SentSpec:
    """A job spec as it was sent, and where; empty: it is all that was sent."""

    document: object
    place: str = ""
    trial: ArrayTrial | None = None
    template: Mapping[str, Any] = field(default_factory=dict)  # of which an earlier job began

    def at(self, problem: Problem) -> Problem:
        """Return the problem with the place of its field in what was sent."""
        if not self.place:
            return problem
        field = f"{self.place}.{problem.field}" if problem.field else self.place
        return Problem(
            field=field,
            value=problem.value,
            problem=problem.problem,
            remedy=problem.remedy,
            code=problem.code,
        )


def read(document: object) -> list[SentSpec]:
    """Return the specs of a bulk, in its order.

    Raises:
        SpecInvalid: it is no bulk, or a change leads nowhere.
    """
    if not isinstance(document, Mapping) or set(document) not in _FORMS:
        raise _wrong(
            "",
            None,
            "is no bulk",
            "Send jobs, a list of job specs; or spec and changes; or spec with an array.",
        )
    name = "jobs" if "jobs" in document else "changes"
    items = document[name]
    if not isinstance(items, list) or not items:
        raise _wrong(name, None, "is not a list with entries", "Send an entry for each job.")
    if len(items) > MOST_JOBS:
        raise _wrong(name, len(items), "has too many entries", f"Use at most {MOST_JOBS} at once.")
    if name == "jobs":
        return [SentSpec(document=item, place=f"jobs[{n}]") for n, item in enumerate(items)]
    check_size(document["spec"], jobs=len(items), field="spec")
    return [
        SentSpec(document=_changed(document["spec"], n, change), place=f"changes[{n}]")
        for n, change in enumerate(items)
    ]


def check_size(spec: object, *, jobs: int, field: str) -> None:
    """See that a spec is small enough to be written out for so many jobs.

    Raises:
        SpecInvalid: it is not.
    """
    size = len(json.dumps(spec))
    if size * jobs > MOST_MIB * 2**20:
        raise _wrong(
            field,
            None,
            f"makes {jobs} jobs of a spec of {size} bytes",
            f"Shorten it, or ask for fewer jobs: {MOST_MIB} MiB, bytes times jobs, are allowed at"
            " once.",
        )


_FORMS: Final = ({"jobs"}, {"spec", "changes"})


def _changed(spec: object, number: int, change: object) -> object:
    """Return the spec with a change; unless that names it, its name is numbered from 1."""
    if not isinstance(spec, Mapping):
        raise _wrong("spec", None, "is not a mapping of fields", "Send a whole job spec.")
    if not isinstance(change, Mapping):
        raise _wrong(f"changes[{number}]", None, "is not a mapping", "Send paths and values.")
    changed: Any = {**spec, "name": f"{spec.get('name', '')}-{number + 1}"}
    for path, value in change.items():
        try:
            changed = _with(changed, _steps(path), value)
        except _LeadsNowhere:
            raise _wrong(
                f"changes[{number}].{path}"[:200],
                None,
                "leads nowhere in spec",
                "Name a field of the spec as in elastic.max_workers, or an entry that its list has,"
                " as in command[2].",
            ) from None
    return changed


class _LeadsNowhere(Exception):
    """Something on the way has no such fields or entries."""


def _steps(path: str) -> list[str | int]:
    if not _PATH.fullmatch(path):
        raise _LeadsNowhere
    return [int(step[1]) if step[1] else step[2] for step in _STEP.finditer(path)]


def _with(document: Any, steps: Sequence[str | int], value: Any) -> Any:
    """Return a document with another value at one place; it shares all others."""
    if not steps:
        return value
    first, rest = steps[0], steps[1:]
    if isinstance(first, int):
        if not isinstance(document, list) or first >= len(document):
            raise _LeadsNowhere
        return [*document[:first], _with(document[first], rest, value), *document[first + 1 :]]
    if not isinstance(document, dict | None):
        raise _LeadsNowhere
    fields = document or {}
    return {**fields, first: _with(fields.get(first), rest, value)}


def _wrong(field: str, value: object, problem: str, remedy: str) -> SpecInvalid:
    return SpecInvalid([Problem(field=field, value=value, problem=problem, remedy=remedy)])
