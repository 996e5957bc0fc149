"""Which rules does a spec break? Those of its team and of all teams above it count together.

A problem names the rule, whose it is and what to change. Of a bound that several teams have, it
names the tightest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tenancy.image_names import matches

from jobs.errors import Problem
from jobs.spec.job_spec import JobSpec
from jobs.spec.rules.bounded_fields import FIELDS
from jobs.spec.rules.merging import FLAT_PARTS, ONE_OF_BOTH
from jobs.spec.rules.rule_set import LabelRule, RuleSet, SpecBound

CODE: Final = "breaks_rule"
_MOST_NAMED: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRule:
    """The rules of one team."""

    team: str
    rules: RuleSet


RuleLine = Sequence[TeamRule]
"""Of a team and those above it, the nearest first."""


def defaults_of(line: RuleLine) -> dict[str, Any]:
    """Return what a spec gets where it says nothing: of each field, what the nearest team says."""
    found: dict[str, Any] = {}
    for one in line:
        for name, value in one.rules.defaults.items():
            if name not in found and ONE_OF_BOTH.get(name) not in found:
                found[name] = value
            elif name in FLAT_PARTS and isinstance(value, dict) and isinstance(found[name], dict):
                found[name] = {**value, **found[name]}
    return found


def problems_of(spec: JobSpec, line: RuleLine, *, pools: Mapping[str, str]) -> Iterator[Problem]:
    """Yield each rule that the spec breaks; `pools` are where it may run, by the field for each."""
    for name in FIELDS:
        bounded = [(one.team, one.rules.bounds[name]) for one in line if name in one.rules.bounds]
        if bounded:
            yield from _beyond(name, FIELDS[name].read(spec), bounded)
    for one in line:
        yield from _labels(spec, one)
    for field, pool in pools.items():
        yield from _not_listed(field, "pools", pool, [(one.team, one.rules.pools) for one in line])
    mode = str(spec.elastic.mode.value)
    modes = [(one.team, one.rules.modes) for one in line]
    yield from _not_listed("elastic.mode", "modes", mode, modes)


def _beyond(
    name: str, value: float | None, bounded: Sequence[tuple[str, SpecBound]]
) -> Iterator[Problem]:
    field = FIELDS[name]
    if value is None and not field.is_endless:
        return
    leasts = [(bound.least, team) for team, bound in bounded if bound.least is not None]
    mosts = [(bound.most, team) for team, bound in bounded if bound.most is not None]
    if mosts:
        most, team = min(mosts, key=lambda one: one[0])
        if value is None or value > most:
            how = "is missing, which is more than" if value is None else "is more than"
            broken = BrokenBound(name=name, side="most", number=most, team=team)
            yield _bound_problem(broken, value, f"{how} {field.said(most)}")
    if leasts and value is not None:
        least, team = max(leasts, key=lambda one: one[0])
        if value < least:
            how = f"is less than {field.said(least)}"
            broken = BrokenBound(name=name, side="least", number=least, team=team)
            yield _bound_problem(broken, value, how)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenBound:
    """A bound of a field that a spec is beyond."""

    name: str
    side: str
    number: float
    team: str


def _bound_problem(broken: BrokenBound, value: float | None, how: str) -> Problem:
    field, side, team = FIELDS[broken.name], broken.side, broken.team
    what = "in all, with resources.gpus_per_worker, " if field.shown_at else ""
    return Problem(
        field=field.shown_at or broken.name,
        value=None if value is None else field.as_json(value),
        problem=f"{what}{how}, the rule bounds.{broken.name}.{side} of team {team}",
        remedy=f"Use at {side} {field.said(broken.number)}{' GPUs' if field.shown_at else ''},"
        f" or {_ask(team)}.",
        code=CODE,
    )


def _labels(spec: JobSpec, one: TeamRule) -> Iterator[Problem]:
    for name, rule in one.rules.labels.items():
        value = spec.labels.get(name)
        if value is not None and fits(rule, value):
            continue
        what = "is missing, and required by" if value is None else "is not as required by"
        yield Problem(
            field=f"labels.{name}",
            value=None if value is None else value[:200],
            problem=f"{what} the rule labels.{name} of team {one.team}",
            remedy=f"{wanted_of(rule)}, or {_ask(one.team)}.",
            code=CODE,
        )


def fits(rule: LabelRule, value: str) -> bool:
    """Tell whether the rule allows the value."""
    if rule.values is not None:
        return value in rule.values
    return bool(value) if rule.pattern is None else matches(rule.pattern, value)


def wanted_of(rule: LabelRule) -> str:
    """Say which value the rule wants."""
    if rule.values is not None:
        return f"Use one of: {_some(rule.values)}"
    if rule.pattern is not None:
        return f"Use a value like {rule.pattern}, where * is any characters"
    return "Give it a value"


def _not_listed(
    field: str, part: str, value: str, listed: Sequence[tuple[str, tuple[str, ...] | None]]
) -> Iterator[Problem]:
    for team, words in listed:
        if words is not None and value not in words:
            yield Problem(
                field=field,
                value=value,
                problem=f"is not among those of the rule {part} of team {team}",
                remedy=f"Use one of: {_some(words)}; or {_ask(team)}.",
                code=CODE,
            )


def remedy_alone(problem: Problem) -> str:
    """Return what to do about a rule that is broken, without whom to ask."""
    return problem.remedy.rpartition(" or ask ")[0].rstrip(",;") + "."


def _some(words: Sequence[str]) -> str:
    more = len(words) - _MOST_NAMED
    return ", ".join(words[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _ask(team: str) -> str:
    return f"ask a lead of team {team} to change the rule"
