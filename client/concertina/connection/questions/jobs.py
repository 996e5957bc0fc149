"""What can be asked of one job, and which jobs there are?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, Unpack, cast

from concertina.connection import job_filters, paging
from concertina.connection.retrying import PATIENT, RemainingRetries
from concertina.connection.talks.log_following import LogFollower, told_of_missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from concertina.connection.connection import Send
    from concertina.connection.job_filters import JobFilters
    from concertina.connection.retrying import Clock
    from concertina.connection.talks.carrying import BlockingSteps
    from concertina.documents import (
        Event,
        Explanation,
        Generation,
        Job,
        JobDependencies,
        JobDetail,
        LogLine,
        Usage,
        Worker,
    )
    from concertina.errors import Unreachable

_PAGE: Final = 100


class _AsksOfJobs(Protocol):
    @property
    def _send(self) -> Send: ...

    @property
    def _get(self) -> Callable[..., Any]: ...

    @property
    def _items(self) -> Callable[..., list[Any]]: ...

    @property
    def _on_delay(self) -> Callable[[Unreachable, float], None]: ...

    @property
    def _steps(self) -> Callable[[], BlockingSteps]: ...

    @property
    def clock(self) -> Clock: ...


class JobQuestions:
    """What a client reads of jobs."""

    def job(self: _AsksOfJobs, job_id: str) -> JobDetail:
        return cast("JobDetail", self._get(f"/jobs/{job_id}"))

    def jobs(self: _AsksOfJobs, **filters: Unpack[JobFilters]) -> Iterator[Job]:
        """All jobs that fit, newest first, fetched page by page as they are asked for."""
        return paging.every(self._send, "/jobs", limit=_PAGE, **job_filters.parameters(filters))

    def events(self: _AsksOfJobs, job_id: str, *, after: int | None = None) -> list[Event]:
        """All events, oldest first; or those that came after the one with this id."""
        events: list[Event] = []
        while page := self._items(f"/jobs/{job_id}/events", after=after):
            events += page
            after = page[-1]["id"]
        return events

    def generations(self: _AsksOfJobs, job_id: str) -> list[Generation]:
        return self._items(f"/jobs/{job_id}/generations")

    def dependencies(self: _AsksOfJobs, job_id: str) -> JobDependencies:
        """Return for which jobs it waits, and which wait for it."""
        return cast("JobDependencies", self._get(f"/jobs/{job_id}/dependencies"))

    def workers(self: _AsksOfJobs, job_id: str) -> list[Worker]:
        return self._items(f"/jobs/{job_id}/workers")

    def usage(
        self: _AsksOfJobs, job_id: str, *, worker: str | None = None, points: int = 500
    ) -> Usage:
        """What its workers took over time, all together or one; at most so many points."""
        return cast("Usage", self._get(f"/jobs/{job_id}/usage", worker=worker, points=points))

    def explain(self: _AsksOfJobs, job_id: str) -> Explanation:
        return cast("Explanation", self._get(f"/jobs/{job_id}/explain"))

    def logs(
        self: _AsksOfJobs,
        job_id: str,
        *,
        worker: str | None = None,
        tail: int = 1000,
        notice: Callable[[str], None] = lambda _said: None,
    ) -> list[LogLine]:
        """The last lines there are; `notice` hears which are missing."""
        page = self._get(f"/jobs/{job_id}/logs", worker=worker, tail=tail)
        if said := told_of_missing(page, tail=tail):
            notice(said)
        return cast("list[LogLine]", page["items"])

    def follow_logs(
        self: _AsksOfJobs,
        job_id: str,
        *,
        worker: str | None = None,
        tail: int = 1000,
        notice: Callable[[str], None] = lambda _said: None,
    ) -> Iterator[LogLine]:
        """The last lines and those to come, each once, until the job is final."""
        follower = LogFollower(
            patience=RemainingRetries(PATIENT, self.clock, self._on_delay),
            notice=notice,
        )
        return self._steps().told(follower.lines(job_id, worker=worker, tail=tail))
