"""Which spec does each trial of a sweep have?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tenancy.models import Team

from autoscaler.planning.snapshot.vocabulary import Preemptibility
from jobs.admission.rules.preparing import SpecPreparation
from jobs.errors import Problem, SpecInvalid
from jobs.spec.arrays import expansion
from jobs.spec.bulk import SentSpec
from jobs.spec.job_spec import NOT_A_MAPPING
from sweeps.search import draws, terms
from sweeps.search.terms import SweepTerms

_USUAL: Final = {"preemptibility": Preemptibility.PREEMPTIBLE.value}  # on borrowed GPUs first
_LEFT_OUT: Final = frozenset({"sweep", "array"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptSpec:
    """What all trials of a sweep have alike, with what its template and its team's defaults say.

    It is kept as they were when the sweep was submitted, so that its trials can be compared.
    """

    document: Mapping[str, Any]
    wanted: SweepTerms
    template: Mapping[str, Any]  # with which it began


def read(document: object, teams: Mapping[str, Team]) -> SweptSpec:
    """Read a spec with a sweep; `teams` are those for which the caller may submit.

    Raises:
        SpecInvalid: the field `sweep` is wrong, or its template is not there.
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
    sent = SentSpec(document=spec)
    prepared = SpecPreparation(teams, [sent]).prepared(sent)
    filled: Any = prepared.document  # of a mapping it is one
    return SweptSpec(document={**_USUAL, **filled}, wanted=wanted, template=prepared.template)


def all_of(document: object, teams: Mapping[str, Team]) -> list[SentSpec]:
    """Return the specs of all jobs that one spec asks for, with a sweep or without.

    Raises: SpecInvalid.
    """
    if not isinstance(document, Mapping) or "sweep" not in document:
        return expansion.read_one(document)
    return trials_of(read(document, teams))


def trials_of(swept: SweptSpec, *, first: int = 1, most: int | None = None) -> list[SentSpec]:
    """Return the specs of the trials from `first` on, at most so many; None: all.

    Raises:
        SpecInvalid: a parameter has no place in the spec, or a place has no parameter.
    """
    spec, wanted = swept.document, swept.wanted
    values = draws.values_of(wanted)
    expansion.check_places(spec, [*wanted.parameters], jobs=len(values), field="sweep")
    last = len(values) if most is None else min(first - 1 + most, len(values))
    trials = (
        expansion.trial_of(spec, number, values[number - 1], wanted.max_running)
        for number in range(first, last + 1)
    )
    return [replace(one, template=swept.template) for one in trials]


def _problem(problem: str, remedy: str) -> Problem:
    return Problem(field="sweep", value=None, problem=problem, remedy=remedy)
