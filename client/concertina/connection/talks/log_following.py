"""How is a log followed over broken connections without missing or repeating a line?

Each event of the stream has an id, the place behind it. A stream that broke is opened again behind
the last event that was read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from concertina import words
from concertina.api.answers import MESSAGE, ServerEvent
from concertina.api.request import ApiRequest
from concertina.connection.talks.steps import NextEvent, OpenStream, Pause, Said, Talk
from concertina.errors import NotAllowed, RefusedByService, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from concertina.connection.retrying import RemainingRetries
    from concertina.documents import LogLine

REOPEN_SECONDS: Final = 0.5
_TRIMMED: Final = "Older lines were dropped for good: the log was longer than what is kept."


def told_of_missing(document: dict[str, bool], *, tail: int) -> str:
    """Return what a reader should know of lines that are not shown; nothing if all are."""
    if document["has_earlier"]:
        more = f"Only the last {tail} lines are shown, fewer if they are long; --tail shows more."
        return f"{more} {_TRIMMED}" if document["is_trimmed"] else more
    return _TRIMMED if document["is_trimmed"] else ""


@dataclass(slots=True, kw_only=True)
class LogFollower:
    """Reads a job's log to its end."""

    patience: RemainingRetries
    notice: Callable[[str], None]  # hears which lines are missing
    _place: str = ""  # behind the last event that was read

    def lines(self, job_id: str, *, worker: str | None, tail: int) -> Talk[None]:
        """Tell the last lines and each that comes, once.

        A stream that was open and broke, or was silent for long, is opened again without a word.

        Raises:
            Unreachable: no stream could be opened for longer than the patience lasts.
            NotAllowed: the token does not hold any more.
        """
        params = {"follow": "true", "worker": worker, "tail": tail}
        while True:
            was_open = False
            headers = {"Last-Event-ID": self._place or None}
            request = ApiRequest.of("GET", f"/jobs/{job_id}/logs", params=params, headers=headers)
            try:
                yield OpenStream(request=request)
                was_open = True
                self.patience.renew()
                while (event := (yield NextEvent())) is not None:
                    if event.name == "end":
                        return
                    for line in self._told(event, tail=tail):
                        yield Said(value=line)
            except Unreachable as error:
                if not was_open or not error.is_temporary:
                    yield Pause(seconds=self.patience.seconds_after(error))
            except RefusedByService:
                if not self._place:
                    raise
                self._place = ""  # the service cannot go on from it: begin with the last lines
            if was_open:
                yield Pause(seconds=REOPEN_SECONDS)

    def _told(self, event: ServerEvent, *, tail: int) -> Iterator[LogLine]:
        """The line of an event, if it is one. What is not known is left out."""
        document = event.document()
        if event.name == "refused":
            raise NotAllowed(document["message"], code=document["code"])
        if event.name == "begin" and not self._place:
            self._notice(told_of_missing(document, tail=tail))
        elif event.name == "cut":
            size = words.number(document["bytes"])
            self._notice(f"{size} bytes of {document['worker']} were dropped before they came.")
        self._place = event.id or self._place
        if event.name == MESSAGE:
            yield cast("LogLine", document)

    def _notice(self, said: str) -> None:
        if said:
            self.notice(said)
