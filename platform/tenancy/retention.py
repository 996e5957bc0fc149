"""How long does a team keep each part of its jobs, and who may say so?

Leads choose within bounds, which admins set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from django.db import transaction

from tenancy.audit import records
from tenancy.errors import RetentionRefused
from tenancy.models import RetentionRule, Team
from tenancy.models.retention_rule import KeptPart

CHOSEN: Final = "days"
BOUNDS: Final = ("least_days", "most_days")

Days = Mapping[str, int]  # 0: for ever


def rules_of(team: Team) -> dict[KeptPart, RetentionRule]:
    """Return a rule for each part, also where the team has none of its own."""
    known = {KeptPart(rule.part): rule for rule in RetentionRule.objects.filter(team=team)}
    return {part: known.get(part) or RetentionRule(team=team, part=part) for part in KeptPart}


def days_of(team: Team, defaults: Days) -> dict[KeptPart, int]:
    """Return for how long the team keeps each part."""
    return {part: rule.days_after(defaults[part]) for part, rule in rules_of(team).items()}


def days_by_team(defaults: Days) -> dict[KeptPart, dict[int, int]]:
    """Return by part the days of all teams that have a rule about it."""
    days: defaultdict[KeptPart, dict[int, int]] = defaultdict(dict)
    for rule in RetentionRule.objects.all():
        part = KeptPart(rule.part)
        days[part][rule.team_id] = rule.days_after(defaults[part])
    return days


@transaction.atomic
def change(*, team: Team, part: KeptPart, changes: Mapping[str, int | None]) -> RetentionRule:
    """Set what `changes` names.

    Raises:
        RetentionRefused: the days are outside of the bounds, or these contradict each other.
    """
    Team.objects.select_for_update().get(pk=team.pk)  # one change of a team after the other
    rule = RetentionRule.objects.filter(team=team, part=part).first()
    rule = rule or RetentionRule(team=team, part=part)
    records.note_change(before={name: getattr(rule, name) for name in changes}, after=dict(changes))
    for name, days in changes.items():
        setattr(rule, name, days)
    least, most = rule.least_days or 0, rule.most_days
    if most is not None and least > most:
        raise RetentionRefused(f"At least {least} days is longer than at most {most}.")
    if changes.get(CHOSEN) is not None and rule.days != rule.days_after(0):
        least_said = f"at least {least} days" if least else ""
        most_said = f"at most {most} days, so not for ever" if most is not None else ""
        bounds = " and ".join(filter(None, (least_said, most_said)))
        raise RetentionRefused(
            f"Admins let team {team} keep {part} {bounds}. Choose such a number."
        )
    rule.save()
    return rule
