"""Which specs does one with an `array` become? One for each trial, numbered from 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from pydantic import ValidationError

from jobs.errors import Problem, SpecInvalid
from jobs.spec import bulk
from jobs.spec.arrays import placeholders
from jobs.spec.arrays.terms import ArraySpec
from jobs.spec.bulk import ArrayTrial, SentSpec
from jobs.spec.part import SpecPart
from jobs.spec.problems import validation

_MOST_NAMED: Final = 20


class _SpecWithArray(SpecPart):
    """So that problems name the whole way to a field."""

    array: ArraySpec


def read_many(document: object) -> list[SentSpec]:
    """Return the specs of a bulk, which may be one spec with an array.

    Raises:
        SpecInvalid: it is no bulk, or its array is wrong.
    """
    if isinstance(document, Mapping) and set(document) == {"spec"}:
        spec = document["spec"]
        if isinstance(spec, Mapping) and "array" in spec:
            return _trials_of(spec)
    return bulk.read(document)


def read_one(document: object) -> list[SentSpec]:
    """Return the spec of a job, or those of the trials of its array.

    Raises:
        SpecInvalid: its array is wrong.
    """
    if isinstance(document, Mapping) and "array" in document:
        return _trials_of(document)
    return [SentSpec(document=document)]


def _trials_of(document: Mapping[Any, Any]) -> list[SentSpec]:
    try:
        array = _SpecWithArray.model_validate({"array": document["array"]}).array
    except ValidationError as error:
        raise SpecInvalid(validation.from_validation(error, _SpecWithArray)) from error
    trials = _values_of(array)
    rest = {str(name): part for name, part in document.items() if name != "array"}
    check_places(rest, [*trials[0]], jobs=len(trials), field="array")
    numbered = enumerate(trials, 1)
    return [trial_of(rest, number, one, array.max_running) for number, one in numbered]


def check_places(spec: Mapping[str, Any], names: Sequence[str], *, jobs: int, field: str) -> None:
    """See that a spec without its trials has a place for each parameter, and is small enough.

    Raises: SpecInvalid.
    """
    bulk.check_size(spec, jobs=jobs, field=field)
    if found := [*_misplaced(spec, names, field)]:
        raise SpecInvalid(found)


def trial_of(
    spec: Mapping[str, Any], number: int, values: Mapping[str, Any], max_running: int | None
) -> SentSpec:
    """Return the spec of one trial, of a spec whose places were checked."""
    trial = ArrayTrial(
        array=str(spec.get("name")), number=number, values=values, max_running=max_running
    )
    document = placeholders.filled(_numbered(spec, number), values)
    return SentSpec(document=document, trial=trial)


def _numbered(spec: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return the spec with a trial's name; one that is missing, or no text, is refused later."""
    name = spec.get("name")
    return {**spec, "name": f"{name}-{number}"} if name and isinstance(name, str) else {**spec}


def _values_of(array: ArraySpec) -> Sequence[Mapping[str, Any]]:
    """Return the values of each trial; of a grid, the last parameter changes first."""
    grid, trials = array.parameters, array.trials
    if grid is not None and trials is None:
        return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if trials is not None and grid is None:
        return trials
    raise SpecInvalid(
        [
            Problem(
                field="array",
                value=None,
                problem="has both parameters and trials" if grid else "has no values",
                remedy="Give parameters, the values of each, of which all combinations are made;"
                " or trials, a list of combinations.",
            )
        ]
    )


def _misplaced(spec: Mapping[str, Any], names: Sequence[str], field: str) -> Iterator[Problem]:
    """Find placeholders of nothing, parameters without any, and too many of both."""
    places = placeholders.found_in(spec)
    for name in sorted(places.count_by_name.keys() - set(names))[:_MOST_NAMED]:
        yield Problem(
            field=field,
            value=None,
            problem=f"has no parameter {name}, which the spec names as {{{{{name}}}}}",
            remedy=f"Its parameters are {', '.join(names)}.",
        )
    for name in names:
        if name not in places.count_by_name:
            yield Problem(
                field=field,
                value=None,
                problem=f"has a parameter {name} that the spec uses nowhere",
                remedy=f'Write "{{{{{name}}}}}" where its value belongs: in command, env, seed or'
                " another field.",
            )
    if places.total > placeholders.MOST_PLACES:
        yield Problem(
            field=field,
            value=None,
            problem=f"has values in {places.total} places of the spec",
            remedy=f"Use them in at most {placeholders.MOST_PLACES} places.",
        )
