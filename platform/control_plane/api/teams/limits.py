"""How much may a team's jobs have at once, and how does it stand with its month's GPU-hours?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from rest_framework import exceptions, serializers
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal
from tenancy.models import Team, TeamLimits, limits_of
from tenancy.models.limits import LEAST_GPU_HOURS, MOST_GPU_HOURS, MOST_GPUS_PER_USER
from tenancy.models.team import MOST_QUEUED_JOBS
from tenancy.queries import TeamsWithLimits

from autoscaler.team_budget import NEAR, TeamBudget, WhenUsedUp
from control_plane.queries.visibility import sees_numbers_of
from jobs.models import GpuClaim

OF_LEADS_ABOVE: Final = frozenset({"max_running_jobs", "gpu_hours_per_month", "when_used_up"})
OF_LEADS: Final = frozenset(
    {"max_running_jobs_per_user", "max_queued_jobs_per_user", "max_gpus_per_user"}
)
LIMIT_FIELDS: Final = OF_LEADS_ABOVE | OF_LEADS


def jobs_field(help_text: str) -> serializers.IntegerField:
    """Make a field for a number of jobs that may be unlimited."""
    return serializers.IntegerField(
        min_value=1,
        max_value=MOST_QUEUED_JOBS,
        allow_null=True,
        required=False,
        help_text=f"{help_text} null: no limit.",
    )


class TeamLimitsSerializer(serializers.Serializer[Any]):
    """Limits of a team as a whole, as they are changed."""

    max_running_jobs = jobs_field(
        "Most jobs of it and the teams below it that hold GPUs at once; further ones wait."
    )
    max_running_jobs_per_user = jobs_field(
        "Most of these that one person, or one token, has submitted."
    )
    max_queued_jobs_per_user = jobs_field(
        "Most jobs of the team that wait of those that one person, or one token, has submitted."
    )
    max_gpus_per_user = serializers.IntegerField(
        min_value=1,
        max_value=MOST_GPUS_PER_USER,
        allow_null=True,
        required=False,
        help_text="Most GPUs that the team's jobs of one person, or one token, hold at once, in all"
        " pools together; in each team below as well. null: no limit.",
    )
    gpu_hours_per_month = serializers.FloatField(
        min_value=LEAST_GPU_HOURS,
        max_value=MOST_GPU_HOURS,
        allow_null=True,
        required=False,
        help_text="That it and the teams below it may use in a month of UTC. null: no limit.",
    )
    when_used_up = serializers.ChoiceField(
        choices=WhenUsedUp.choices(),
        required=False,
        help_text="What becomes of its jobs when these are used up.",
    )


class ShownLimitsSerializer(serializers.Serializer[Any]):
    """Limits of a team as a whole, as they are; null: no limit."""

    max_running_jobs = serializers.IntegerField(
        allow_null=True, help_text="That hold GPUs at once, with those of the teams below it."
    )
    max_running_jobs_per_user = serializers.IntegerField(allow_null=True)
    max_queued_jobs_per_user = serializers.IntegerField(allow_null=True)
    max_gpus_per_user = serializers.IntegerField(
        allow_null=True, help_text="At once, in all pools together."
    )
    gpu_hours_per_month = serializers.FloatField(allow_null=True)
    when_used_up = serializers.ChoiceField(choices=WhenUsedUp.choices())


class BudgetSerializer(serializers.Serializer[Any]):
    """How a team, with those below it, stands with its GPU-hours of this month."""

    team = serializers.CharField()
    month = serializers.DateField(help_text="Its first day, in UTC.")
    gpu_hours = serializers.FloatField()
    used_gpu_hours = serializers.FloatField(help_text="As counted last, half a minute ago or so.")
    near_gpu_hours = serializers.FloatField(help_text="From which on its people are told.")
    forecast_gpu_hours = serializers.FloatField(
        help_text="Used at the end of the month, if it goes on to hold as many GPUs as now."
    )
    then = serializers.ChoiceField(
        choices=WhenUsedUp.choices(), help_text="What becomes of its jobs when all are used up."
    )
    is_used_up = serializers.BooleanField()
    message = serializers.CharField()


def limits_in_detail(team: Team, principal: Principal, now: datetime) -> Mapping[str, Any]:
    """Return its limits, its budget with those above it, and what the caller may change."""
    tree = TeamsWithLimits.read()
    limits = limits_of(tree.teams.get(team.pk, team))
    return {
        **values_of(limits),
        "budgets": list(_budgets(team, tree, principal, now)),
        "may_change_limits": sorted(changeable_limits(principal, team)),
    }


def values_of(limits: TeamLimits) -> dict[str, Any]:
    return {name: getattr(limits, name) for name in sorted(LIMIT_FIELDS)}


def change_limits(
    team: Team, changes: Mapping[str, Any], principal: Principal
) -> tuple[Mapping[str, Any], TeamLimits]:
    """Write those that are named; return what they were, and all as they are now.

    Raises: ValidationError, where a lead gives more than a team above has.
    """
    tree = TeamsWithLimits.read()
    before = limits_of(tree.teams.get(team.pk, team))
    if not changes:
        return {}, before
    if not principal.is_admin:
        new = {name: to for name, to in changes.items() if to != getattr(before, name)}
        _check_is_within_those_above(team, new, tree)
    was = {name: getattr(before, name) for name in changes}
    saved, _ = TeamLimits.objects.update_or_create(team=team, defaults=dict(changes))
    return was, saved


def changeable_limits(principal: Principal, team: Team) -> frozenset[str]:
    """Return the fields that the caller may change."""
    if principal.may_anywhere(Permission.ADMINISTER):
        return LIMIT_FIELDS
    is_lead = principal.may_in(Permission.MANAGE_MEMBERS, team.pk)
    above = team.parent_id
    is_above = above is not None and principal.may_in(Permission.DIVIDE_QUOTAS, above)
    return (OF_LEADS if is_lead else frozenset()) | (OF_LEADS_ABOVE if is_above else frozenset())


def _check_is_within_those_above(
    team: Team, changes: Mapping[str, Any], tree: TeamsWithLimits
) -> None:
    above = [one for one in tree.line(team.pk) if one.pk != team.pk]
    for name in ("max_running_jobs", "gpu_hours_per_month"):
        wanted = changes.get(name)
        if wanted is None:
            continue
        for one in above:
            most = getattr(limits_of(one), name)
            if most is not None and wanted > most:
                raise exceptions.ValidationError(
                    {name: [f"Team {one.name} above it has {most:g}. Use at most that."]}
                )


def _budgets(
    team: Team, tree: TeamsWithLimits, principal: Principal, now: datetime
) -> Iterator[Mapping[str, Any]]:
    """Yield its own first, then those of teams above of which the caller sees numbers."""
    line = [one for one in tree.line(team.pk) if sees_numbers_of(principal, one.name)]
    found = [
        (one, budget)
        for one in line
        if (budget := limits_of(one).budget(one.name, now)) is not None
    ]
    if not found:
        return
    held = GpuClaim.objects.filter(worker__job__team__in=tree.below(found[-1][0].pk))
    teams = list(held.values_list("worker__job__team_id", flat=True))
    for one, budget in found:
        below = tree.below(one.pk)
        yield _budget(budget, gpus=sum(team_id in below for team_id in teams), now=now)


def _budget(budget: TeamBudget, *, gpus: int, now: datetime) -> Mapping[str, Any]:
    return {
        "team": budget.team,
        "month": budget.month,
        "gpu_hours": budget.gpu_hours,
        "used_gpu_hours": budget.used_gpu_hours,
        "near_gpu_hours": NEAR * budget.gpu_hours,
        "forecast_gpu_hours": budget.forecast_gpu_hours(gpus=gpus, now=now),
        "then": budget.then,
        "is_used_up": budget.is_used_up,
        "message": f"{budget.said()} {budget.consequence()}",
    }
