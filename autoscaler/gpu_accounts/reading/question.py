"""What is asked about GPU time, and what of it may the caller be told?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import StrEnum
from functools import cached_property
from typing import Final

from autoscaler.gpu_accounts.reading.calendar import Period, divided_days

MOST_DAYS: Final = 1_100  # three years; guessed: more than a report compares
MOST_DIVIDED_DAYS: Final = 93  # read by the hour; guessed: of a thousand jobs, in a second or two
MOST_LABELS: Final = 2  # guessed: each more makes many more rows
LONGEST_LABEL: Final = 200


class Dimension(StrEnum):
    """What GPU time is told apart by."""

    TEAM = "team"
    USER = "user"
    POOL = "pool"
    JOB = "job"


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSpan:
    """What a GPU-hour of a pool costs from one day of UTC on, until another."""

    pool: str
    since: date
    until: date
    per_gpu_hour: float


@dataclass(frozen=True, kw_only=True)
class UsageQuestion:
    """The hours that begin in a time, told apart as asked.

    None as `shown` or `seen`: all teams. Those of which the caller sees no numbers are shown
    together; people, jobs and labels are told only of teams whose jobs the caller sees.
    """

    since: datetime
    until: datetime
    zone: tzinfo = UTC
    dimensions: Sequence[Dimension] = ()
    labels: Sequence[str] = ()  # keys
    period: Period | None = None
    team: str = ""  # only these
    user: str = ""
    pool: str = ""
    job: str = ""
    having_labels: Sequence[tuple[str, str | None]] = ()
    prices: Sequence[PriceSpan] = ()
    shown: Collection[str] | None = None
    seen: Collection[str] | None = None

    @cached_property
    def begins(self) -> Sequence[datetime]:
        """Return when each period begins, the first perhaps before all; one: there is one."""
        if self.period is None:
            return [self.since]
        return self.period.begins(self.since, self.until, self.zone)

    @cached_property
    def divided_days(self) -> Sequence[datetime]:
        """The midnights of the days of UTC that are read by the hour."""
        days = divided_days(self.since, self.until, self.begins)
        return [datetime(day.year, day.month, day.day, tzinfo=UTC) for day in days]

    @property
    def has_whole_days(self) -> bool:
        """True if there are days of UTC that are read whole."""
        last = self.until.date()
        days = (last - self.since.date()).days
        return days > sum(1 for day in self.divided_days if day.date() < last)

    @property
    def concerns_jobs(self) -> bool:
        """True if lines of jobs are to be told apart."""
        return bool(
            Dimension.JOB in self.dimensions or self.labels or self.job or self.having_labels
        )

    @property
    def is_personal(self) -> bool:
        """True if it tells of people or jobs."""
        return self.concerns_jobs or Dimension.USER in self.dimensions or bool(self.user)

    @property
    def too_much(self) -> Mapping[str, str]:
        """Say which field asks for more than can be read at once; empty: none does."""
        if self.until - self.since > timedelta(days=MOST_DAYS):
            return {"since": f"At most {MOST_DAYS} days may be asked for at once. Ask for fewer."}
        is_fine = self.period in {Period.HOUR, Period.DAY}
        if is_fine and len(self.divided_days) > MOST_DIVIDED_DAYS:
            return {
                "by": f"By {self.period} in this time zone, at most {MOST_DIVIDED_DAYS} days may be"
                " asked for at once. Ask for fewer, by month, or by day with time_zone=UTC."
            }
        return {}
