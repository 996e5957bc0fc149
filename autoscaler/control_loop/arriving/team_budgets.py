"""How much of their month's GPU-hours have teams used? Counted from the accounts, now and then.

A look that is lost or comes twice does no harm: the sums are made anew each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from tenancy.models import TeamLimits

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.gpu_accounts.reading.months import gpu_hours_of_month
from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.team_budget import TeamBudget, month_after, month_of
from jobs.changes import events

COUNTED_SECONDS: Final = 30.0  # guessed, as for the GPU time of a job
_COUNTED: Final = ("month", "month_gpu_hours", "told_month", "told_gpu_hours", "told_share")


@dataclass(slots=True)
class TeamBudgets:
    """Remembers when it counted last, and which budgets there were then."""

    _counted_at: datetime | None = None
    _budgets: Mapping[int, float] | None = None

    def go_on(self, views: Sequence[LiveJob], context: TickContext) -> None:
        """Count what is due, and tell teams how they stand: four statements, however many teams.

        Raises:
            LeaseLost: another process holds the lease now.
        """
        budgets = {
            team: limits.gpu_hours_per_month
            for team, limits in context.around.teams_with_limits.items()
            if limits.gpu_hours_per_month is not None
        }
        if not budgets or not self._is_due(budgets, context.now):
            return
        self._counted_at, self._budgets = context.now, budgets
        below = context.around.tree.below_each(budgets)
        used = _used(month_of(context.now), below, context)
        with context.fence.transaction():
            rows = TeamLimits.objects.select_for_update(no_key=True, skip_locked=True)
            held = list(rows.filter(pk__in=budgets).order_by("pk"))
            told = [
                _count(row, used[row.pk], _largest(below[row.pk], views), context) for row in held
            ]
            TeamLimits.objects.bulk_update(held, _COUNTED)
            events.record_all(one for one in told if one is not None)
        for row in held:  # those who were told just now give way in the next tick
            known = context.around.teams_with_limits[row.pk]
            known.month, known.month_gpu_hours = row.month, row.month_gpu_hours

    def _is_due(self, budgets: Mapping[int, float], now: datetime) -> bool:
        """True as well if the clock has stepped back, or a month turned."""
        if self._counted_at is None or budgets != self._budgets:
            return True
        is_lately = timedelta() <= now - self._counted_at < timedelta(seconds=COUNTED_SECONDS)
        return not is_lately or month_of(now) != month_of(self._counted_at)


def _used(month: date, below: Mapping[int, set[int]], context: TickContext) -> Mapping[int, float]:
    """Return the GPU-hours of each team with those below it."""
    teams = context.around.teams
    names = {teams[one].name for ids in below.values() for one in ids}
    hours = gpu_hours_of_month(names, month, month_after(month), now=context.now)
    return {
        team: sum(hours.get(teams[one].name, 0.0) for one in ids) for team, ids in below.items()
    }


def _count(
    row: TeamLimits, used: float, through: str | None, context: TickContext
) -> events.Unwritten | None:
    """Write down what was used; return what its people are told now, through this job."""
    row.month, row.month_gpu_hours = month_of(context.now), used
    budget = row.budget(context.around.teams[row.pk].name, context.now)
    if budget is None:
        return None
    row.told_share, share = budget.share_still_told, budget.share_to_tell
    if share is None or through is None:
        return None
    row.told_month, row.told_gpu_hours, row.told_share = budget.month, budget.gpu_hours, share
    return _told(budget, share, through)


def _largest(below: set[int], views: Iterable[LiveJob]) -> str | None:
    """Return the job of these teams that holds most workers; None: they have no live job."""
    of_them = (view for view in views if view.job.team_id in below)
    found = max(of_them, key=lambda view: len(view.live), default=None)
    return None if found is None else found.id


def _told(budget: TeamBudget, share: float, job_id: str) -> events.Unwritten:
    is_used_up = share >= 1.0
    return events.new(
        job_id=job_id,
        kind=EventKind.BUDGET_USED_UP if is_used_up else EventKind.BUDGET_WARNING,
        reason=JobReason.TEAM_BUDGET_USED_UP if is_used_up else None,
        message=f"{budget.said()} {budget.consequence()}",
        data={
            "team": budget.team,
            "month": f"{budget.month:%Y-%m}",
            "gpu_hours": budget.gpu_hours,
            "used_gpu_hours": budget.used_gpu_hours,
            "share": share,
        },
    )
