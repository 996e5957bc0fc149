"""What happens to a job until it is final? Its events are sent as they happen.

Where the stream of events cannot be had, as from an older service or through a proxy that keeps
answers until they are whole, the job is read again and again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from concertina.api.request import ApiRequest, segment
from concertina.connection.talks.steps import NextEvent, OpenStream, Pause, Talk
from concertina.errors import ConcertinaError, Unreachable
from concertina.states import FINAL_STATES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from concertina.api.answers import ServerEvent
    from concertina.documents import Event, Job

POLL_SECONDS: Final = 1.0
REOPEN_SECONDS: Final = 0.5
POLLS_BETWEEN: Final = 30  # two attempts to open a stream, where one may be had again; guessed
QUIET_SECONDS: Final = 15  # the longest in which a stream says nothing
_SILENCE_SECONDS: Final = QUIET_SECONDS + 5.0
_SECONDS_BETWEEN_LOOKS: Final = 60  # whether the job was deleted, of which no event tells
_MOST_POLLS_BETWEEN: Final = 3600


class JobWatch:
    """Watches one job."""

    def __init__(
        self,
        job_id: str,
        *,
        on_event: Callable[[Event], None],
        on_progress: Callable[[Job], None] | None = None,
        progress_seconds: float = QUIET_SECONDS,
    ) -> None:
        """Nothing is asked yet; without `on_progress`, the job is hardly read before it is final.

        Args:
            job_id: of the job.
            on_event: is told every event once and in order.
            on_progress: is told the job about every so many seconds.
            progress_seconds: as often as that; a stream bounds it from 1 to 15.
        """
        self._job_id = job_id
        self._path = f"/jobs/{segment(job_id)}"
        self._on_event = on_event
        self._on_progress = on_progress
        quiet = progress_seconds if on_progress else QUIET_SECONDS
        self._quiet = min(max(round(quiet), 1), QUIET_SECONDS)
        self._told: set[int] = set()
        self._newest: int | None = None
        self._place = ""  # behind the last event of the stream that was read
        self._polls_ahead: float = 0  # before a stream is tried again
        self._failures = 0  # in a row, of streams that said nothing at all
        self._quiets = 0  # since the job was looked at

    def until_final(self) -> Talk[Job]:
        """Tell what happens; give the final job, of which the last event was told.

        Raises: ConcertinaError, such as Unreachable where nobody answers for long.
        """
        job = yield from self._look()
        while job["state"] not in FINAL_STATES:
            if self._polls_ahead > 0:
                self._polls_ahead -= 1
                yield Pause(seconds=POLL_SECONDS)
            elif (yield from self._follow()):
                yield Pause(seconds=REOPEN_SECONDS)
            job = yield from self._look()
        return job

    def _look(self) -> Talk[Job]:
        """Read the job, then its events, so that of a final job the last one is told."""
        _, job = yield ApiRequest.of("GET", self._path)
        while True:
            after = {"after": self._newest}
            _, page = yield ApiRequest.of("GET", f"{self._path}/events", params=after)
            if not page["items"]:
                break
            for event in page["items"]:
                self._tell(event)
        if self._on_progress:
            self._on_progress(job)
        found: Job = job
        return found

    def _follow(self) -> Talk[bool]:
        """Tell events as they come; True: the stream is over before the job, and may go on."""
        params = {"job": self._job_id, "quiet": self._quiet}
        headers = {"Last-Event-ID": self._place or None}
        request = ApiRequest.of("GET", "/events/stream", params=params, headers=headers)
        has_begun = False
        step: OpenStream | NextEvent = OpenStream(request=request, silence_seconds=_SILENCE_SECONDS)
        while True:
            try:  # only what is said of the stream: what listeners raise is their own
                event: ServerEvent | None = yield step
                document = event.document() if event and event.name == "event" else {}
            except Unreachable as error:
                self._give_up_for_a_while(error, has_begun=has_begun)
                break
            except ConcertinaError:
                self._polls_ahead = math.inf  # there is no such stream, or not for this token
                break
            if event is not None:
                is_first, has_begun = not self._place, True
                self._failures = 0
                self._place = event.id or self._place
                if (yield from self._ends_with(event.name, document, is_first=is_first)):
                    return False
            elif isinstance(step, NextEvent):
                break
            step = NextEvent()
        if not has_begun:
            self._polls_ahead = max(self._polls_ahead, POLLS_BETWEEN)
        return has_begun

    def _give_up_for_a_while(self, error: Unreachable, *, has_begun: bool) -> None:
        """Remember a stream that was silent or not there; of one that began and broke, nothing.

        One that says nothing again and again is kept back on its way: it is asked for more and
        more rarely. A service that is started anew says nothing as well, but not for long.
        """
        if not error.is_temporary:
            self._polls_ahead = math.inf
        elif error.code == Unreachable.default_code and not has_begun:
            self._polls_ahead = min(POLLS_BETWEEN * 4**self._failures, _MOST_POLLS_BETWEEN)
            self._failures += 1  # not of what was answered, as that there are too many

    def _ends_with(self, name: str, document: Mapping[str, Any], *, is_first: bool) -> Talk[bool]:
        """Tell what an event of the stream says; True if the job is final now."""
        if name == "begin" and is_first:  # of what happened before, the stream does not tell
            return (yield from self._look())["state"] in FINAL_STATES
        if name == "event":
            return (yield from self._ended_by(document))
        if name == "still-there":
            return (yield from self._ended_in_silence())
        return False

    def _ended_by(self, event: Mapping[str, Any]) -> Talk[bool]:
        if event.get("job_id") != self._job_id:  # an older service sends those of all jobs
            return False
        self._tell(event)
        if event["new_state"] in FINAL_STATES:
            return True
        return bool(event["new_state"]) and (yield from self._shows_the_end())

    def _ended_in_silence(self) -> Talk[bool]:
        self._quiets += 1
        if self._quiets * self._quiet < _SECONDS_BETWEEN_LOOKS:
            return (yield from self._shows_the_end())
        self._quiets = 0
        return (yield from self._look())["state"] in FINAL_STATES

    def _shows_the_end(self) -> Talk[bool]:
        """Show how far the job is to whoever wants to know; True if it is final now."""
        if self._on_progress is None:
            return False
        _, job = yield ApiRequest.of("GET", self._path)
        self._on_progress(job)
        return job["state"] in FINAL_STATES

    def _tell(self, event: Any) -> None:
        self._newest = max(self._newest or 0, event["id"])
        if event["id"] not in self._told:
            self._told.add(event["id"])
            self._on_event(event)
