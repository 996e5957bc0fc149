"""What are a team's GPU-hours of a month, how many of them are used, and what follows then?

Months are those of UTC, as days and hours of the accounts are.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from autoscaler.coded_words import CodedWord

NEAR: Final = 0.8  # of a budget; guessed: early enough to ask for more
_TOLD_OF: Final = (NEAR, 1.0)
_ROUGHLY: Final = 0.99  # guessed: what is counted again may be a little less
_HOUR: Final = 3600.0


class WhenUsedUp(CodedWord):
    """What becomes of a team's jobs when its GPU-hours of the month are used up."""

    NO_NEW = "no_new", "no_new: no queued job starts, and those that run go on"
    PAUSE = "pause", "pause: those that run are paused as well, after a last checkpoint"


def month_of(moment: datetime) -> date:
    """Return the first day of its month."""
    return moment.astimezone(UTC).date().replace(day=1)


def month_after(month: date) -> date:
    return (month + timedelta(days=32)).replace(day=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamBudget:
    """The GPU-hours of a team and of all teams below it, in one month, as counted last."""

    team: str
    gpu_hours: float
    used_gpu_hours: float
    month: date
    then: WhenUsedUp
    told_share: float = 0.0  # of which its people have heard that so much is used up

    @property
    def is_used_up(self) -> bool:
        return self.used_gpu_hours >= self.gpu_hours

    @property
    def pauses(self) -> bool:
        """True where running jobs have to give way: never before their people were told."""
        is_told = self.told_share >= 1.0
        return self.then is WhenUsedUp.PAUSE and self.is_used_up and is_told

    @property
    def share_still_told(self) -> float:
        """Return of which share its people have heard, as far as so much is used up.

        A clock that leapt ahead for a moment, or jobs of a team that was moved away, may have made
        it seem more: when that much is used, they hear of it again, before any job is paused.
        """
        known = [share for share in _TOLD_OF if share <= self.told_share]
        rough = self.used_gpu_hours / _ROUGHLY
        return max((share for share in known if rough >= share * self.gpu_hours), default=0.0)

    @property
    def share_to_tell(self) -> float | None:
        """Return of which share its people have to hear now; None: of none, or they have heard."""
        reached = [share for share in _TOLD_OF if self.used_gpu_hours >= share * self.gpu_hours]
        return reached[-1] if reached and reached[-1] > self.share_still_told else None

    def said(self) -> str:
        """Say how much is used of how much, in which month."""
        return (
            f"Team {self.team} has used {self.used_gpu_hours:.1f} of the {self.gpu_hours:g}"
            f" GPU-hours that it has in {self.month:%B %Y} (`gpu_hours_per_month`)."
        )

    def consequence(self) -> str:
        """Say what happens when all are used."""
        if self.then is WhenUsedUp.PAUSE:
            return "When all are used, its running jobs are paused, and none starts."
        return "When all are used, no queued job of it starts; those that run go on."

    def why_it_waits(self) -> str:
        """Say what a job waits for; the same as long as the budget is."""
        return (
            f"Team {self.team} has used up the {self.gpu_hours:g} GPU-hours that it has in"
            f" {self.month:%B %Y} (`gpu_hours_per_month`). The job goes on by itself on"
            f" {month_after(self.month):%Y-%m-%d} at 00:00 UTC, or when an admin or a lead of a"
            " team above gives the team more"
        )

    def forecast_gpu_hours(self, *, gpus: int, now: datetime) -> float:
        """Return how many will be used in the month if the team holds so many GPUs to its end."""
        ends = datetime.combine(month_after(self.month), datetime.min.time(), UTC)
        left = max((ends - now).total_seconds(), 0.0)
        return self.used_gpu_hours + gpus * left / _HOUR
