"""When did something happen that a job reports? As it says, as far as that is possible.

The clocks of nodes may be wrong, and a script may claim anything. A moment lies between the job's
first start and now, and a duration is no longer than the time that has passed; beside what is
reported is stored when it arrived, by the service's own clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from jobs.commands.observations.reporting_job import ReportingJob

_AHEAD: Final = timedelta(seconds=60)  # a clock of a node may be; guessed


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceTime:
    """What the service's clock says at a report."""

    now: datetime
    earliest: datetime  # that the job's processes can have seen

    @classmethod
    def of(cls, job: ReportingJob, now: datetime) -> ServiceTime:
        return cls(now=now, earliest=min(job.started_at or job.submitted_at, now))

    def moment(self, reported: datetime) -> datetime:
        """Return the reported moment, or the nearest possible one."""
        return min(max(reported, self.earliest), self.now + _AHEAD)

    def seconds(self, reported: float, *, since: datetime | None = None) -> float:
        """Return the reported duration, or as much as has passed since then."""
        passed = (self.now - (since or self.earliest)).total_seconds()
        return min(reported, max(passed, 0.0))

    @property
    def age_seconds(self) -> float:
        """Return how long ago the job's processes can have begun at the earliest."""
        return (self.now - self.earliest).total_seconds()
