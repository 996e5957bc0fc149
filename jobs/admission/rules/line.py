"""Which rules and templates count for a team? Its own and those of all teams above it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from tenancy.models import Team

from jobs.models import JobTemplate
from jobs.spec.rules import rule_set
from jobs.spec.rules.checking import RuleLine, TeamRule
from jobs.spec.rules.rule_set import PARTS

_MOST_LEVELS: Final = 1000  # of teams above one another; a circle ends here
_LINE: Final = f"""
    WITH RECURSIVE line (id, name, parent_id, depth) AS (
        SELECT id, name, parent_id, 0 FROM tenancy_team WHERE id = %(team)s
        UNION ALL
        SELECT above.id, above.name, above.parent_id, depth + 1
        FROM tenancy_team above JOIN line ON above.id = line.parent_id
        WHERE depth < {_MOST_LEVELS}
    )
"""  # noqa: S608 - a number of ours
STAMP_SQL: Final = f"""(
    {_LINE}
    SELECT md5(string_agg(line.id || coalesce(rules::text, ''), ' ' ORDER BY depth))
    FROM line LEFT JOIN jobs_teamrules rules ON rules.team_id = line.id
)"""  # noqa: S608 - own names
"""Another text whenever a rule that counts for a team is another, or a team above it."""
_READ: Final = f"""
    {_LINE}
    SELECT line.id, line.name, rules.is_locked,
        jsonb_build_object({", ".join(f"'{part}', rules.{part}" for part in PARTS)}),
        md5(string_agg(line.id || coalesce(rules::text, ''), ' ') OVER (
            ORDER BY depth ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ))
    FROM line LEFT JOIN jobs_teamrules rules ON rules.team_id = line.id
    ORDER BY depth
"""  # noqa: S608 - own names


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesOfLine:
    """The rules of a team and of those above it, as they were read together."""

    rules: RuleLine  # the team's own first
    team_ids: Sequence[int]
    is_locked: bool
    stamp: str

    @property
    def own(self) -> TeamRule:
        return self.rules[0]

    @property
    def above(self) -> RuleLine:
        return self.rules[1:]


def read(team: Team) -> RulesOfLine:
    """Read them in one statement, however many teams are above it."""
    with connection.cursor() as cursor:
        cursor.execute(_READ, {"team": team.pk})
        rows = cursor.fetchall()
    return RulesOfLine(
        rules=[
            TeamRule(team=name, rules=rule_set.stored(_document(text)))
            for _, name, _, text, _ in rows
        ],
        team_ids=[row[0] for row in rows],
        is_locked=bool(rows[0][2]) if rows else False,
        stamp=rows[0][4] if rows else "",
    )


def templates_of(line: RulesOfLine, names: Collection[str] | None = None) -> list[JobTemplate]:
    """Return the templates that count, by name, the nearest of each; `names`: only these."""
    found = JobTemplate.objects.filter(team__in=line.team_ids).select_related("team")
    if names is not None:
        found = found.filter(name__in=names)
    nearness = {team: place for place, team in enumerate(line.team_ids)}
    nearest: dict[str, JobTemplate] = {}
    for one in sorted(found, key=lambda one: nearness[one.team_id]):
        nearest.setdefault(one.name, one)
    return [nearest[name] for name in sorted(nearest)]


def _document(said: Any) -> Mapping[str, Any]:
    document: Mapping[str, Any] = json.loads(said) if isinstance(said, str) else said
    return {part: value for part, value in document.items() if value is not None}
