"""Which specs of one call can be accepted? All of them, or the call is refused with every problem.

What the installation says about them is read once, however many they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any, Final

from tenancy.access.token_bounds import TokenBounds
from tenancy.models import Team

from jobs.admission import notes, spec_checks
from jobs.admission.dependencies import resolving
from jobs.admission.dependencies.naming import CallNames
from jobs.admission.earlier_runs import EarlierRuns
from jobs.admission.pool_capacity import PoolCapacity
from jobs.admission.rules import token_bounds
from jobs.admission.rules.preparing import SpecPreparation
from jobs.admission.spec_checks import AdmittedSpec
from jobs.admission.team_records import TeamRecords
from jobs.errors import Problem, SpecInvalid
from jobs.spec.bulk import SentSpec
from jobs.spec.job_spec import JobSpec, parse

MOST_PROBLEMS: Final = 200  # that an answer names, the first of each job before all others
MOST_NOTES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedCall:
    """The specs of one team that came together."""

    team: Team
    specs: Sequence[AdmittedSpec]
    earlier: EarlierRuns
    notes: Sequence[str]  # each once, of whichever specs
    rules_stamp: str  # of the rules that they were judged by


def admit_all(
    sent: Sequence[SentSpec],
    *,
    teams: Mapping[str, Team],
    pools: Sequence[PoolCapacity],
    bounds: TokenBounds | None = None,
) -> AdmittedCall:
    """Check every spec; `teams` are those the caller may submit for, by a token with `bounds`.

    Raises:
        SpecInvalid: with the problems of all specs, at most `MOST_PROBLEMS`.
    """
    preparation = SpecPreparation(teams, sent, said=token_bounds.said_by(bounds))
    parsed = [_parsed(one, preparation) for one in sent]
    specs = (one.spec for one in parsed if isinstance(one, _Parsed))
    checks = _Checks(teams, pools, CallNames.of(specs), preparation, bounds)
    pairs = zip(sent, parsed, strict=True)
    wrong = [found for one, spec in pairs if (found := checks.problems_of(one, spec))]
    wrong = wrong or checks.circles()
    if wrong or checks.records is None:
        together = chain.from_iterable(zip_longest(*wrong))
        shown = _each_once(problem for problem in together if problem is not None)
        is_one = len(sent) == 1 and not sent[0].place
        summary = "" if is_one else f"{len(wrong)} of {len(sent)} jobs are refused."
        raise SpecInvalid(shown, summary=summary)
    return _together(checks.admitted, checks.records)


def _each_once(problems: Iterable[Problem]) -> list[Problem]:
    """Return the first of them; what many trials of an array have alike, is told once."""
    alike = {(one.field, one.problem, one.remedy): one for one in problems}
    return [*alike.values()][:MOST_PROBLEMS]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parsed:
    """A spec with all that its template and its team's defaults say, and its template."""

    spec: JobSpec
    template: Mapping[str, Any]


def _parsed(sent: SentSpec, preparation: SpecPreparation) -> _Parsed | SpecInvalid:
    try:
        prepared = preparation.prepared(sent)
        return _Parsed(spec=parse(prepared.document), template=prepared.template)
    except SpecInvalid as error:
        return error


def admit_one(
    spec: JobSpec, *, teams: Mapping[str, Team], pools: Sequence[PoolCapacity]
) -> AdmittedCall:
    """Check a spec that was read already. Raises: SpecInvalid."""
    team, found = spec_checks.place_of(spec, teams=teams, pools=pools)
    records = TeamRecords(team, CallNames.of([spec]))
    return _together([spec_checks.admit(spec, records=records, pools=found)], records)


def _together(specs: Sequence[AdmittedSpec], records: TeamRecords) -> AdmittedCall:
    earlier = EarlierRuns(records.team, [one.training for one in specs])
    said = dict.fromkeys(
        note for one in specs for note in notes.of(one, records=records, earlier=earlier)
    )
    return AdmittedCall(
        team=records.team,
        specs=specs,
        earlier=earlier,
        notes=tuple(said)[:MOST_NOTES],
        rules_stamp=records.rules.stamp,
    )


class _Checks:
    """Goes through the specs of a call, one after the other."""

    def __init__(
        self,
        teams: Mapping[str, Team],
        pools: Sequence[PoolCapacity],
        names: CallNames,
        preparation: SpecPreparation,
        bounds: TokenBounds | None,
    ) -> None:
        self.records: TeamRecords | None = None
        self.admitted: list[AdmittedSpec] = []
        self._teams = teams
        self._pools = pools
        self._names = names
        self._preparation = preparation
        self._bounds = bounds
        self._first: SentSpec | None = None  # whose team is that of all
        self._place_by_name: dict[str, str] = {}

    def problems_of(self, sent: SentSpec, spec: _Parsed | SpecInvalid) -> list[Problem]:
        """Return what is wrong with the spec; nothing: it is among those admitted."""
        try:
            self._admit(sent, spec)
        except SpecInvalid as error:
            return [sent.at(problem) for problem in error.problems]
        return []

    def circles(self) -> list[list[Problem]]:
        """Return the first job of a circle of those that wait for each other; mostly nothing."""
        if self.records is None or not self._names.entries:
            return []
        found = resolving.circle_among((one.spec for one in self.admitted), self._names)
        if found is None:
            return []
        name, problem = found
        return [[SentSpec(document=None, place=self._place_by_name[name]).at(problem)]]

    def _admit(self, sent: SentSpec, parsed: _Parsed | SpecInvalid) -> None:
        if isinstance(parsed, SpecInvalid):
            raise parsed
        spec = parsed.spec
        team, pools = spec_checks.place_of(spec, teams=self._teams, pools=self._pools)
        if self.records is None or self._first is None:
            rules = self._preparation.line_of(team)
            self.records = TeamRecords(team, self._names, rules, self._bounds)
            self._first = sent
        elif team != self.records.team:
            raise SpecInvalid([_of_another_team(team, self._first, self.records.team)])
        if self._bounds is not None:
            names = {field: pool.name for field, pool in pools.items()}
            token_bounds.check(spec.labels, pools=names, bounds=self._bounds)
        admitted = spec_checks.admit(spec, records=self.records, pools=pools)
        other = self._place_by_name.setdefault(spec.name, sent.place)
        if other != sent.place:
            raise SpecInvalid([_named_as(spec.name, other)])
        self.admitted.append(replace(admitted, template=parsed.template))


def _of_another_team(team: Team, first: SentSpec, its_team: Team) -> Problem:
    return Problem(
        field="team",
        value=team.name,
        problem=f"is not the team of {first.place}, which is {its_team.name}",
        remedy="Send the jobs of each team in a bulk of their own.",
    )


def _named_as(name: str, other: str) -> Problem:
    return Problem(
        field="name",
        value=name,
        problem=f"is the name of {other} as well",
        remedy="Give each job a name of its own.",
    )
