"""What can go wrong with a request about jobs? One class per situation, each with a stable code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from jobs.lifecycle import JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One field of a request, its value, what is wrong with it and what to do."""

    field: str
    value: Any
    problem: str
    remedy: str
    code: str = "invalid_spec"  # of the whole answer, if this is its first problem

    def __str__(self) -> str:
        return f"{self.field or 'The job spec'} {self.problem}. {self.remedy}".strip()

    def as_detail(self) -> dict[str, Any]:
        detail = asdict(self)
        del detail["code"]
        return detail


class JobsError(Exception):
    """A request about jobs cannot be done."""

    code: ClassVar[str]

    def __init__(self, message: str = "", problems: Sequence[Problem] = ()) -> None:
        super().__init__(message or self.__doc__)
        self.problems = tuple(problems)


class SpecInvalid(JobsError):
    """The job spec cannot be accepted."""

    code = "invalid_spec"

    def __init__(self, problems: Sequence[Problem], *, summary: str = "") -> None:
        said = (summary, *(str(problem) for problem in problems[:3]))
        super().__init__(" ".join(filter(None, said)), problems)
        self.answer_code = problems[0].code


class JobNotFound(JobsError):
    """There is no such job."""

    code = "not_found"


class ArrayNotFound(JobsError):
    """There is no such array of jobs."""

    code = "not_found"


class SweepSteersTrials(JobsError):
    """A sweep pauses and resumes its trials itself. Cancel it, or pause single trials of it."""

    code = "illegal_transition"


class JobNotYours(JobsError):
    """You may see this job, and not change it: that is for whoever submitted it, and for leads."""

    code = "permission_denied"


class SubmissionNotAllowed(JobsError):
    """You may see jobs, and submit none. Ask a lead of the team for the role `member`."""

    code = "permission_denied"


class CoordinatorReplaced(JobsError):
    """Another coordinator has taken over this job; this one has to end."""

    code = "coordinator_replaced"


class NotTheCoordinator(JobsError):
    """This needs the token of the job's coordinator."""

    code = "not_authenticated"


class JobOver(JobsError):
    """This job has ended; no more reports about it are accepted."""

    code = "job_over"


class BadCursor(JobsError):
    """This cursor does not come from the answer to a list."""

    code = "bad_cursor"


class TableTooLarge(JobsError):
    """The points of this time are too many for one file. Ask for a shorter time: since, until."""

    code = "table_too_large"


class JobNotOver(JobsError):
    """Only a job that has ended can be deleted. Cancel it first, and wait until it has ended."""

    code = "job_not_over"


class JobPinned(JobsError):
    """This job is pinned, so nothing of it may be removed. Unpin it first."""

    code = "job_pinned"


class TooManyPinned(JobsError):
    """The team has pinned as many jobs as it may; unpin some first."""

    code = "too_many_pinned_jobs"


class TeamInUse(JobsError):
    """This team still has live jobs, pinned jobs or teams below it."""

    code = "team_in_use"


class NameInUse(JobsError):
    """The team has a live job of this name."""

    code = "name_in_use"


class TooManyQueued(JobsError):
    """The team has as many waiting jobs as it may; cancel some, or ask an admin to raise that."""

    code = "too_many_queued_jobs"


class TeamDiskFull(JobsError):
    """The team's jobs keep more on disk than they may; delete some, or ask an admin for more."""

    code = "team_disk_full"


class LimitUsedUp(JobsError):
    """The job has used up what its spec lets it, so it cannot go on."""

    code = "limit_used_up"


class ChangedMeanwhile(JobsError):
    """Somebody has changed this job since it was read. Read it again, then change it."""

    code = "changed_meanwhile"


class RulesNotYours(JobsError):
    """You may see the rules and templates of this team, and not change them."""

    code = "permission_denied"


class RulesChangedMeanwhile(JobsError):
    """Somebody has changed these rules since they were read. Read them again, then change them."""

    code = "changed_meanwhile"


class TemplateNotFound(JobsError):
    """There is no such template."""

    code = "not_found"


class TemplateNameTaken(JobsError):
    """Another template of the team has this name; use another, or change that one."""

    code = "name_in_use"


class TooManyTemplates(JobsError):
    """The team has as many templates as it may; delete one first."""

    code = "too_many_templates"


class TemplateChangedMeanwhile(JobsError):
    """Somebody has changed this template since it was read. Read it again, then change it."""

    code = "changed_meanwhile"


class IdempotencyConflict(JobsError):
    """This Idempotency-Key was used within 24 hours for another request."""

    code = "idempotency_conflict"


class IllegalTransition(JobsError):
    """The job's state does not allow this."""

    code = "illegal_transition"

    def __init__(self, *, verb: str, state: JobState, allowed: Sequence[JobState]) -> None:
        super().__init__(
            f"The job is {state}; only a job that is {' or '.join(allowed)} can be {verb}."
        )
        self.state = state
