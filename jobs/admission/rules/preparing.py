"""What becomes of a spec as it was sent? Its template fills it in, then its team's defaults.

Whoever sends a spec says what they want to have said: neither of both changes that. A template
stands above defaults, and both above what the platform takes by itself. What the token says that
it is sent with, comes before all of these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tenancy.models import Team

from jobs.admission.rules import line
from jobs.admission.rules.line import RulesOfLine
from jobs.errors import Problem, SpecInvalid
from jobs.models import JobTemplate
from jobs.spec.arrays import placeholders
from jobs.spec.bulk import SentSpec
from jobs.spec.rules import checking
from jobs.spec.rules.merging import filled

FIELD: Final = "template"
_MOST_NAMED: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedSpec:
    """What is to be read in place of what was sent, and of which template it began."""

    document: object
    template: Mapping[str, Any]


class SpecPreparation:
    """Prepares the specs of one call; the rules of a team are read once, its templates, too."""

    def __init__(
        self,
        teams: Mapping[str, Team],
        sent: Iterable[SentSpec],
        said: Mapping[str, Any] | None = None,
    ) -> None:
        self._teams = teams
        self._said = said or {}  # by the token
        self._lines: dict[int, RulesOfLine] = {}
        self._templates: dict[int, Mapping[str, JobTemplate]] = {}
        self._known: dict[int, Collection[str]] = {}
        documents = (one.document for one in sent)
        named = (one.get(FIELD) for one in documents if isinstance(one, Mapping))
        self._named = {name for name in named if isinstance(name, str)}

    def line_of(self, team: Team) -> RulesOfLine:
        if team.pk not in self._lines:
            self._lines[team.pk] = line.read(team)
        return self._lines[team.pk]

    def prepared(self, sent: SentSpec) -> PreparedSpec:
        """Return the spec as it is to be read.

        Raises:
            SpecInvalid: its template is not there.
        """
        document = sent.document
        if not isinstance(document, Mapping):
            return PreparedSpec(document=document, template=sent.template)
        if self._said:
            document = filled(document, self._said)
        team = self._team_of(document)
        if team is None:
            return self._of_nobody(document, sent)
        found, template = {**document}, sent.template
        name = found.pop(FIELD, None)
        if name is not None:
            used = self._template(team, name)
            found = filled(found, used.spec)
            template = {"team": used.team.name, "name": used.name, "version": used.version}
        defaults = checking.defaults_of(self.line_of(team).rules)
        if defaults:
            found = filled(found, defaults)
        if sent.trial is not None:
            _check_places(found, document, field="array" if name is None else FIELD)
        return PreparedSpec(document=found, template=template)

    def _team_of(self, document: Mapping[Any, Any]) -> Team | None:
        name = document.get("team") or document.get("project")
        if name:
            return self._teams.get(name) if isinstance(name, str) else None
        return next(iter(self._teams.values())) if len(self._teams) == 1 else None

    def _of_nobody(self, document: Mapping[Any, Any], sent: SentSpec) -> PreparedSpec:
        """Leave it to the check of teams to say that there is no such team."""
        if FIELD not in document:
            return PreparedSpec(document=document, template=sent.template)
        name = document.get("team") or document.get("project")
        raise SpecInvalid(
            [
                Problem(
                    field="team",
                    value=name if isinstance(name, str) else None,
                    problem="is not a team for which you can submit jobs" if name else "is missing",
                    remedy="A template is of a team. Use one of:"
                    f" {', '.join(sorted(self._teams)) or 'none'}.",
                    code="unknown_team",
                )
            ]
        )

    def _template(self, team: Team, name: object) -> JobTemplate:
        if team.pk not in self._templates:
            found = line.templates_of(self.line_of(team), self._named)
            self._templates[team.pk] = {one.name: one for one in found}
        templates = self._templates[team.pk]
        if isinstance(name, str) and name in templates:
            return templates[name]
        if team.pk not in self._known:
            self._known[team.pk] = [one.name for one in line.templates_of(self.line_of(team))]
        raise SpecInvalid([_unknown(name, team, self._known[team.pk])])


def _check_places(filled_in: Mapping[Any, Any], sent: Mapping[Any, Any], *, field: str) -> None:
    """See that a trial was given no place of a value, which would stay as it is written.

    Raises: SpecInvalid.
    """
    before, after = (placeholders.found_in(one).count_by_name for one in (sent, filled_in))
    if more := sorted(name for name, count in after.items() if count > before.get(name, 0)):
        raise SpecInvalid(
            [
                Problem(
                    field=field,
                    value=None,
                    problem=f"gets {{{{{more[0]}}}}} from the template or the team's defaults, and"
                    " values of trials go into what the spec itself says",
                    remedy=f"Write the field that has {{{{{more[0]}}}}} into the spec.",
                )
            ]
        )


def _unknown(name: object, team: Team, known: Collection[str]) -> Problem:
    shown = sorted(known)[:_MOST_NAMED]
    more = f" and {len(known) - len(shown)} more" if len(known) > len(shown) else ""
    return Problem(
        field=FIELD,
        value=name[:80] if isinstance(name, str) else None,
        problem=f"is no template of team {team.name}",
        remedy=f"Use one of: {', '.join(shown)}{more}." if shown else "Leave it out: it has none.",
    )
