"""Which spec does each trial of a sweep have?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from autoscaler.planning.snapshot.vocabulary import Preemptibility
from jobs.errors import Problem, SpecInvalid
from jobs.spec.arrays import expansion
from jobs.spec.bulk import SentSpec
from jobs.spec.job_spec import NOT_A_MAPPING
from sweeps.search import draws, terms
from sweeps.search.terms import SweepTerms

_USUAL: Final = {"preemptibility": Preemptibility.PREEMPTIBLE.value}  # on borrowed GPUs first
_LEFT_OUT: Final = frozenset({"sweep", "array"})


def read(document: object) -> tuple[dict[str, Any], SweepTerms]:
    """Return the spec that all trials have alike, and what the field `sweep` says.

    Raises: SpecInvalid.
    """
    if not isinstance(document, Mapping):
        raise SpecInvalid([NOT_A_MAPPING])
    if "sweep" not in document:
        raise SpecInvalid(
            [_problem("is missing", "Add it; or send this spec to POST /api/v1/jobs.")]
        )
    if "array" in document:
        raise SpecInvalid([_problem("stands beside an array", "Use one of them.")])
    wanted = terms.read(document["sweep"])
    spec = {str(name): part for name, part in document.items() if name not in _LEFT_OUT}
    return {**_USUAL, **spec}, wanted


def all_of(document: object) -> list[SentSpec]:
    """Return the specs of all jobs that one spec asks for, with a sweep or without.

    Raises: SpecInvalid.
    """
    if not isinstance(document, Mapping) or "sweep" not in document:
        return expansion.read_one(document)
    return trials_of(*read(document))


def trials_of(
    spec: Mapping[str, Any], wanted: SweepTerms, *, first: int = 1, most: int | None = None
) -> list[SentSpec]:
    """Return the specs of the trials from `first` on, at most so many; None: all.

    Raises:
        SpecInvalid: a parameter has no place in the spec, or a place has no parameter.
    """
    values = draws.values_of(wanted)
    expansion.check_places(spec, [*wanted.parameters], jobs=len(values), field="sweep")
    last = len(values) if most is None else min(first - 1 + most, len(values))
    return _trials(spec, wanted, values, range(first, last + 1))


def _trials(
    spec: Mapping[str, Any],
    wanted: SweepTerms,
    values: Sequence[Mapping[str, Any]],
    numbers: Sequence[int],
) -> list[SentSpec]:
    most = wanted.max_running
    return [expansion.trial_of(spec, one, values[one - 1], most) for one in numbers]


def _problem(problem: str, remedy: str) -> Problem:
    return Problem(field="sweep", value=None, problem=problem, remedy=remedy)
