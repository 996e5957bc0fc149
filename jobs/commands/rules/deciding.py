"""Which rules does a team have? Leads set those of their team, and only tighten what is above.

A submission that is under way either comes before a change and is judged by what was there, or is
judged by what is there then: whoever changes rules waits for those of the team and the teams below.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal
from tenancy.audit import records
from tenancy.models import Team
from tenancy.queries import TeamsWithLimits

from jobs.admission.rules import line
from jobs.admission.rules.line import RulesOfLine
from jobs.errors import Problem, RulesChangedMeanwhile, RulesNotYours, SpecInvalid
from jobs.models import TeamRules
from jobs.spec.rules import rule_set, tightening
from jobs.spec.rules.checking import RuleLine
from jobs.spec.rules.rule_set import RuleSet


def version_of(rules: RuleSet, *, is_locked: bool) -> str:
    """Return a text that is another one whenever something of the rules is."""
    text = json.dumps([rules.as_json(), is_locked], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def may_change(principal: Principal, team: Team, *, is_locked: bool) -> bool:
    """Tell whether they may change the rules of the team, which may be locked."""
    if may_lock(principal, team):
        return True
    return not is_locked and principal.may_in(Permission.MANAGE_MEMBERS, team.pk)


def may_lock(principal: Principal, team: Team) -> bool:
    """Tell whether they may keep leads of the team itself from changing its rules."""
    if principal.may_anywhere(Permission.ADMINISTER):
        return True
    above = team.parent_id
    return above is not None and principal.may_in(Permission.MANAGE_MEMBERS, above)


def change(
    principal: Principal,
    team: Team,
    parts: Mapping[str, Any],
    *,
    version: str,
    is_locked: bool | None = None,
) -> RulesOfLine:
    """Replace the parts that are named, null takes one away; return all as they are then.

    Raises:
        RulesNotYours: they may not change these rules, or not lock them.
        RulesChangedMeanwhile: they have another version by now.
        SpecInvalid: with every problem found; nothing is changed.
    """
    with transaction.atomic():
        hold(team)
        current = line.read(team)
        _check_may(principal, team, current, is_locked=is_locked)
        before = current.own.rules
        if version != version_of(before, is_locked=current.is_locked):
            raise RulesChangedMeanwhile
        wanted = rule_set.read({**before.as_json(), **parts})
        known = _problems_of(principal, team, before, current.above)
        found = _problems_of(principal, team, wanted, current.above)
        if problems := [problem for problem in found if problem not in known]:
            raise SpecInvalid(problems)  # what a rule above brought since may wait
        locked = current.is_locked if is_locked is None else is_locked
        after = wanted.as_json()
        if wanted.is_empty and not locked:
            TeamRules.objects.filter(team=team).delete()
        else:
            TeamRules.objects.update_or_create(team=team, defaults={**after, "is_locked": locked})
        records.note_change(
            before=_told(before.as_json(), after, current.is_locked),
            after=_told(after, before.as_json(), locked),
        )
        return line.read(team)


def check_may_change_some(principal: Principal, team: Team) -> None:
    """See that they may change rules that are not locked. Raises: RulesNotYours."""
    if not may_change(principal, team, is_locked=False):
        raise RulesNotYours(f"Leads of team {team.name} change its rules, and admins.")


def hold(team: Team) -> None:
    """Wait for submissions of the team and the teams below it, and let none begin."""
    below = TeamsWithLimits.read().below(team.pk)
    held = Team.objects.select_for_update(no_key=True).filter(pk__in=below).order_by("pk")
    list(held.values_list("pk"))


def _problems_of(
    principal: Principal, team: Team, rules: RuleSet, above: RuleLine
) -> list[Problem]:
    """Return what is wrong with rules below those above."""
    is_admin = principal.may_anywhere(Permission.ADMINISTER)
    looser = [] if is_admin else [*tightening.problems_of(rules, above)]
    told = {one.field for one in looser}
    opposite = [one for one in tightening.contradictions(rules, above) if one.field not in told]
    return [*tightening.forbidden_defaults(team.name, rules, above), *opposite, *looser]


def _check_may(
    principal: Principal, team: Team, current: RulesOfLine, *, is_locked: bool | None
) -> None:
    check_may_change_some(principal, team)
    if not may_change(principal, team, is_locked=current.is_locked):
        raise RulesNotYours(
            f"The rules of team {team.name} are locked: an admin changes them, or a lead of a team"
            " above it."
        )
    if is_locked not in {None, current.is_locked} and not may_lock(principal, team):
        raise RulesNotYours(
            f"An admin, or a lead of a team above {team.name}, locks its rules and unlocks them."
        )


def _told(of: Mapping[str, Any], other: Mapping[str, Any], is_locked: bool) -> dict[str, Any]:  # noqa: FBT001 - of three alike
    """Return the parts that differ, for the audit log; of defaults the names of fields."""
    told = {part: value for part, value in of.items() if value != other[part]}
    if "defaults" in told:
        told["defaults"] = sorted(told["defaults"])
    return {**told, "is_locked": is_locked}
