"""Which rules are looser than those of a team above? Leads only tighten what is above them.

A looser rule would change nothing, because the tighter one counts as well: whoever writes it is
told so. A default that a rule forbids is told of, too, and a rule with which no job would do,
because a team above says the opposite.
"""

from __future__ import annotations

from collections.abc import Iterator

from jobs.errors import Problem
from jobs.spec.rules import checking
from jobs.spec.rules.bounded_fields import FIELDS
from jobs.spec.rules.checking import RuleLine, TeamRule
from jobs.spec.rules.rule_set import LabelRule, RuleSet, as_spec


def problems_of(rules: RuleSet, above: RuleLine) -> Iterator[Problem]:
    """Yield what of the rules is looser than something above."""
    for one in above:
        yield from _bounds(rules, one)
        for part, own, theirs in (
            ("pools", rules.pools, one.rules.pools),
            ("modes", rules.modes, one.rules.modes),
        ):
            more = [word for word in own or () if theirs is not None and word not in theirs]
            if more and theirs is not None:
                remedy = f"Use some of: {', '.join(theirs)}."
                yield _looser(part, more[0], f"is not in {part} of team {one.team}", remedy)
        for name, rule in rules.labels.items():
            known = one.rules.labels.get(name)
            if known is None or known.values is None or rule.values is None:
                continue
            others = [value for value in rule.values if value not in known.values]
            if others:
                problem = f"is not among the values of team {one.team}"
                remedy = f"Use some of: {', '.join(known.values)}."
                yield _looser(f"labels.{name}.values", others[0], problem, remedy)


def forbidden_defaults(team: str, rules: RuleSet, above: RuleLine) -> Iterator[Problem]:
    """Yield the defaults with which every job would be refused."""
    line = [TeamRule(team=team, rules=rules), *above]
    spec = as_spec(rules.defaults)
    for problem in checking.problems_of(spec, line, pools=spec.pool_fields):
        part, _, inner = problem.field.partition("[")[0].partition(".")
        said = rules.defaults.get(part)
        if said is None or (inner and not (isinstance(said, dict) and inner in said)):
            continue
        yield Problem(
            field=f"defaults.{problem.field}",
            value=problem.value,
            problem=problem.problem,
            remedy=checking.remedy_alone(problem),
        )


def contradictions(rules: RuleSet, above: RuleLine) -> Iterator[Problem]:
    """Yield the rules that nothing keeps that keeps those of a team above."""
    for one in above:
        yield from _opposite_bounds(rules, one)
        for part, own, theirs in (
            ("pools", rules.pools, one.rules.pools),
            ("modes", rules.modes, one.rules.modes),
        ):
            if own is not None and theirs is not None and not {*own} & {*theirs}:
                problem = f"has none of {part} of team {one.team} above it"
                yield _looser(part, own[0], problem, f"Use some of: {', '.join(theirs)}.")
        for name, rule in rules.labels.items():
            known = one.rules.labels.get(name)
            if known is not None and not _may_both_fit(rule, known):
                yield _looser(
                    f"labels.{name}",
                    None,
                    f"has no value that is as the rule labels.{name} of team {one.team} above it",
                    f"{checking.wanted_of(known)}.",
                )


def _opposite_bounds(rules: RuleSet, above: TeamRule) -> Iterator[Problem]:
    for name, bound in rules.bounds.items():
        known, field = above.rules.bounds.get(name), FIELDS[name]
        if known is None:
            continue
        if bound.least is not None and known.most is not None and bound.least > known.most:
            problem = f"is above most of team {above.team} above it"
            remedy = f"Use at most {field.said(known.most)}."
            yield _looser(f"bounds.{name}.least", field.as_json(bound.least), problem, remedy)
        if bound.most is not None and known.least is not None and bound.most < known.least:
            problem = f"is below least of team {above.team} above it"
            remedy = f"Use at least {field.said(known.least)}."
            yield _looser(f"bounds.{name}.most", field.as_json(bound.most), problem, remedy)


def _may_both_fit(one: LabelRule, other: LabelRule) -> bool:
    """Tell whether a value may fit both; of two patterns nobody says."""
    if one.values is not None:
        return any(checking.fits(other, value) for value in one.values)
    return other.values is None or any(checking.fits(one, value) for value in other.values)


def _bounds(rules: RuleSet, above: TeamRule) -> Iterator[Problem]:
    for name, bound in rules.bounds.items():
        known = above.rules.bounds.get(name)
        if known is None:
            continue
        field = FIELDS[name]
        if bound.most is not None and known.most is not None and bound.most > known.most:
            problem = f"is more than that of team {above.team} above it"
            remedy = f"Use at most {field.said(known.most)}."
            yield _looser(f"bounds.{name}.most", field.as_json(bound.most), problem, remedy)
        if bound.least is not None and known.least is not None and bound.least < known.least:
            problem = f"is less than that of team {above.team} above it"
            remedy = f"Use at least {field.said(known.least)}."
            yield _looser(f"bounds.{name}.least", field.as_json(bound.least), problem, remedy)


def _looser(field: str, value: object, problem: str, remedy: str) -> Problem:
    return Problem(field=field, value=value, problem=problem, remedy=remedy)
