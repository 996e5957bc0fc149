"""What can go wrong with a request about a schedule? One class per situation, each with a code."""

from __future__ import annotations

from typing import ClassVar


class ScheduleError(Exception):
    """A request about a schedule cannot be done."""

    code: ClassVar[str]
    status: ClassVar[int]

    def __init__(self, message: str = "") -> None:
        super().__init__(message or self.__doc__)


class ScheduleNotFound(ScheduleError):
    """The team has no such schedule (any more)."""

    code, status = "not_found", 404


class ScheduleNotYours(ScheduleError):
    """You may see this schedule, and not do this with it."""

    code, status = "permission_denied", 403


class BadCron(ScheduleError):
    """This is no cron expression that can be followed."""

    code, status = "invalid_request", 400


class TooManySchedules(ScheduleError):
    """The team has as many schedules as it may; delete one first."""

    code, status = "too_many_schedules", 409


class ScheduleNameTaken(ScheduleError):
    """Another schedule of the team has this name; use another, or delete that one first."""

    code, status = "name_in_use", 409


class ScheduleChangedMeanwhile(ScheduleError):
    """Somebody has changed this schedule since it was read. Read it again, then change it."""

    code, status = "changed_meanwhile", 412


class StillRuns(ScheduleError):
    """A job of this schedule still runs, and its `overlap` is `skip`. Cancel that job first."""

    code, status = "still_runs", 409


class ReplacesForeignJobs(ScheduleError):
    """The jobs to be replaced are not all those that may be cancelled in this name."""

    code, status = "permission_denied", 403
