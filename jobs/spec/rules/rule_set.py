"""What does a set of rules say, and how is it read? A problem names the place and the remedy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from jobs.errors import Problem, SpecInvalid
from jobs.job_mode import JobMode
from jobs.spec.job_spec import JobSpec, check_pools, without_aliases
from jobs.spec.names import LABEL, check_text
from jobs.spec.problems import validation
from jobs.spec.rules.bounded_fields import FIELDS

MOST_CHARACTERS: Final = 16_384  # of a partial spec, which each of many jobs may get whole
MOST_LABELS: Final = 20
MOST_VALUES: Final = 100
MOST_POOLS: Final = 100
MOST_TEMPLATES: Final = 100  # of a team
LONGEST_VALUE: Final = 200
NOT_SHARED: Final = ("name", "team", "project", "array", "sweep", "template")
"""What each job says for itself."""

_STAND_INS: Final = {"name": "any", "command": ["any"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecBound:
    """The least and the most of a field; None: it has none."""

    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRule:
    """A label that each job has: with one of these values, one that fits, or any."""

    values: tuple[str, ...] | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """What a team says of the specs of its jobs; None where anything goes."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    bounds: Mapping[str, SpecBound] = field(default_factory=dict)
    labels: Mapping[str, LabelRule] = field(default_factory=dict)
    pools: tuple[str, ...] | None = None
    modes: tuple[str, ...] | None = None

    @property
    def is_empty(self) -> bool:
        return self == RuleSet()

    def as_json(self) -> dict[str, Any]:
        """Return it as it is stored, shown and sent."""
        return {
            "defaults": dict(self.defaults),
            "bounds": {
                name: {
                    side: FIELDS[name].as_json(number)
                    for side, number in (("least", bound.least), ("most", bound.most))
                    if number is not None
                }
                for name, bound in sorted(self.bounds.items())
            },
            "labels": {
                name: {"values": list(rule.values)}
                if rule.values is not None
                else {"pattern": rule.pattern}
                if rule.pattern is not None
                else {}
                for name, rule in sorted(self.labels.items())
            },
            "pools": None if self.pools is None else list(self.pools),
            "modes": None if self.modes is None else list(self.modes),
        }


PARTS: Final = ("defaults", "bounds", "labels", "pools", "modes")


def read(document: Mapping[str, Any]) -> RuleSet:
    """Read a set of rules as somebody sent it.

    Raises:
        SpecInvalid: with every problem found.
    """
    found: list[Problem] = []
    made = RuleSet(
        defaults=_defaults(_said(document, "defaults"), found),
        bounds=_bounds(_said(document, "bounds"), found),
        labels=_labels(_said(document, "labels"), found),
        pools=_words("pools", document.get("pools"), MOST_POOLS, found),
        modes=_words("modes", document.get("modes"), len(JobMode), found),
    )
    found.extend(
        _wrong("modes", mode, "is not a mode", f"Use some of: {', '.join(JobMode)}.")
        for mode in made.modes or ()
        if mode not in set(JobMode)
    )
    found.extend(
        _wrong(part, None, "is not a part of rules", f"Known are: {', '.join(PARTS)}.")
        for part in document
        if part not in PARTS
    )
    if found:
        raise SpecInvalid(found)
    return made


def stored(document: Mapping[str, Any]) -> RuleSet:
    """Read what was stored; what today's release cannot read of it does not count."""
    try:
        return read(document)
    except SpecInvalid:
        return RuleSet(**{part: _part_alone(part, document) for part in PARTS})


def check_partial(partial: object, place: str) -> list[Problem]:
    """Return what is wrong with a part of a spec: its fields, and not how they go together.

    But for `pool` and `pools`: whoever leaves both to it would be refused for saying both.
    """
    if not isinstance(partial, Mapping):
        return [_wrong(place, None, "is not a mapping", "Write fields of a job spec.")]
    if len(json.dumps(partial)) > MOST_CHARACTERS:
        return [_wrong(place, None, "is too long", f"Use at most {MOST_CHARACTERS} characters.")]
    found = [
        _wrong(f"{place}.{name}", partial[name], "is for each job to say", "Leave it out.")
        for name in NOT_SHARED
        if name in partial
    ]
    if found:
        return found
    try:
        spec = JobSpec.model_validate({**_STAND_INS, **without_aliases(partial)})
    except ValidationError as error:
        return [
            _wrong(f"{place}.{one.field}", one.value, one.problem, one.remedy)
            for one in validation.from_validation(error, JobSpec)
        ]
    return [
        _wrong(f"{place}.{one.field}", one.value, one.problem, one.remedy)
        for one in check_pools(spec)
    ]


def as_spec(partial: Mapping[str, Any]) -> JobSpec:
    """Return a partial spec that was checked as one with the platform's defaults."""
    return JobSpec.model_validate({**_STAND_INS, **partial})


def _said(document: Mapping[str, Any], part: str) -> object:
    said = document.get(part)
    return {} if said is None else said


def _part_alone(part: str, document: Mapping[str, Any]) -> Any:
    try:
        return getattr(read({part: document.get(part)}), part)
    except SpecInvalid:
        return getattr(RuleSet(), part)


def _defaults(document: object, found: list[Problem]) -> Mapping[str, Any]:
    problems = check_partial(document, "defaults")
    found.extend(problems)
    return {} if problems else without_aliases(document)  # type: ignore[arg-type]  # checked


def _bounds(document: object, found: list[Problem]) -> Mapping[str, SpecBound]:
    made: dict[str, SpecBound] = {}
    for name, sides in _entries("bounds", document, len(FIELDS), found):
        place = f"bounds.{name}"
        if name not in FIELDS:
            remedy = f"Use some of: {', '.join(FIELDS)}."
            found.append(_wrong(place, None, "is not a field that has bounds", remedy))
            continue
        if not isinstance(sides, Mapping) or not sides or not set(sides) <= {"least", "most"}:
            found.append(_wrong(place, None, "is no bound", "Give least, most or both."))
            continue
        numbers = {side: _number(name, side, sides[side], found) for side in sides}
        bound = SpecBound(**numbers)
        if bound.least is not None and bound.most is not None and bound.least > bound.most:
            said = FIELDS[name].said(bound.most)
            found.append(
                _wrong(f"{place}.least", sides["least"], f"is above most, {said}", "Lower it.")
            )
        made[name] = bound
    return made


def _number(name: str, side: str, value: object, found: list[Problem]) -> float | None:
    try:
        return FIELDS[name].parsed(value)
    except ValueError as error:
        problem, _, remedy = str(error).partition(" | ")
        shown = value if isinstance(value, str | int | float | None) else None
        remedy = remedy or "Use a smaller one."
        found.append(_wrong(f"bounds.{name}.{side}", shown, problem, remedy))
        return None


def _labels(document: object, found: list[Problem]) -> Mapping[str, LabelRule]:
    made: dict[str, LabelRule] = {}
    for name, said in _entries("labels", document, MOST_LABELS, found):
        place = f"labels.{name[:80]}"
        if not LABEL.fullmatch(name):
            remedy = "Use up to 80 letters, digits, dots, slashes, hyphens and underscores."
            found.append(_wrong(place, None, "is not a label name", remedy))
            continue
        if not isinstance(said, Mapping) or len(said) > 1 or not set(said) <= {"values", "pattern"}:
            remedy = "Give values, a list; or pattern, in which * is any characters; or {}."
            found.append(_wrong(place, None, "is no rule of a label", remedy))
            continue
        values = _words(f"{place}.values", said.get("values"), MOST_VALUES, found)
        pattern = said.get("pattern")
        if pattern is not None and not _is_word(pattern):
            found.append(
                _wrong(f"{place}.pattern", None, "is no pattern", "Write a text, such as CC-*.")
            )
            pattern = None
        made[name] = LabelRule(values=values, pattern=pattern)
    return made


def _entries(
    place: str, document: object, most: int, found: list[Problem]
) -> Iterator[tuple[str, Any]]:
    if not isinstance(document, Mapping):
        found.append(_wrong(place, None, "is not a mapping", "Write names with what they mean."))
        return
    if len(document) > most:
        found.append(_wrong(place, len(document), "has too many entries", f"Use at most {most}."))
        return
    for name, said in document.items():
        yield str(name), said


def _words(place: str, document: object, most: int, found: list[Problem]) -> tuple[str, ...] | None:
    if document is None:
        return None
    if not isinstance(document, list) or not 0 < len(document) <= most:
        found.append(_wrong(place, None, "is no list", f"List 1 to {most}, or leave it out."))
        return None
    if not all(map(_is_word, document)):
        remedy = f"Use texts of 1 to {LONGEST_VALUE} characters."
        found.append(_wrong(place, None, "has what is no word", remedy))
        return None
    return tuple(dict.fromkeys(document))


def _is_word(value: object) -> bool:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_VALUE:
        return False
    try:
        check_text(value).encode()
    except ValueError:
        return False
    return True


def _wrong(field: str, value: object, problem: str, remedy: str) -> Problem:
    return Problem(field=field, value=value, problem=problem, remedy=remedy)
