"""How is a log followed over broken connections without missing or repeating a line?

Each event of the stream has an id, the place behind it. A stream that broke is opened again behind
the last event that was read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from concertina import words
from concertina.errors import NotAllowed, RefusedByService, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from concertina.connection.retrying import Clock, RemainingRetries
    from concertina.connection.transport import Transport
    from concertina.documents import LogLine

REOPEN_SECONDS: Final = 0.5
_MESSAGE: Final = "message"
_TRIMMED: Final = "Older lines were dropped for good: the log was longer than what is kept."


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """One message of an event stream."""

    name: str
    data: str
    id: str = ""  # empty: as before


def server_events(lines: Iterable[str]) -> Iterator[ServerEvent]:
    """Split an event stream's lines into its messages; comments (keep-alives) are dropped."""
    name, data, place = _MESSAGE, list[str](), ""
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data or name != _MESSAGE:
                yield ServerEvent(name=name, data="\n".join(data), id=place)
            name, data, place = _MESSAGE, [], ""
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            place = value


def told_of_missing(document: dict[str, bool], *, tail: int) -> str:
    """Return what a reader should know of lines that are not shown; nothing if all are."""
    if document["has_earlier"]:
        more = f"Only the last {tail} lines are shown, fewer if they are long; --tail shows more."
        return f"{more} {_TRIMMED}" if document["is_trimmed"] else more
    return _TRIMMED if document["is_trimmed"] else ""


@dataclass(slots=True, kw_only=True)
class LogFollower:
    """Reads a job's log to its end."""

    transport: Transport
    clock: Clock
    patience: RemainingRetries
    notice: Callable[[str], None]  # hears which lines are missing
    _place: str = ""  # behind the last event that was read

    def lines(self, job_id: str, *, worker: str | None, tail: int) -> Iterator[LogLine]:
        """The last lines and each that comes, once.

        A stream that was open and broke, or was silent for long, is opened again without a word.

        Raises:
            Unreachable: no stream could be opened for longer than the patience lasts.
            NotAllowed: the token does not hold any more.
        """
        path, params = f"/jobs/{job_id}/logs", {"follow": "true", "worker": worker, "tail": tail}
        while True:
            was_open = False
            headers = {"Last-Event-ID": self._place} if self._place else {}
            try:
                with self.transport.stream(path, params=params, headers=headers) as stream:
                    was_open = True
                    self.patience.renew()
                    for event in server_events(stream):
                        if event.name == "end":
                            return
                        yield from self._told(event, tail=tail)
            except Unreachable as error:
                if not was_open:
                    self.patience.wait_after(error)
            except RefusedByService:
                if not self._place:
                    raise
                self._place = ""  # the service cannot go on from it: begin with the last lines
            if was_open:
                self.clock.sleep(REOPEN_SECONDS)

    def _told(self, event: ServerEvent, *, tail: int) -> Iterator[LogLine]:
        """The line of an event, if it is one. What is not known is left out."""
        document = json.loads(event.data)
        if event.name == "refused":
            raise NotAllowed(document["message"], code=document["code"])
        if event.name == "begin" and not self._place:
            self._notice(told_of_missing(document, tail=tail))
        elif event.name == "cut":
            size = words.number(document["bytes"])
            self._notice(f"{size} bytes of {document['worker']} were dropped before they came.")
        self._place = event.id or self._place
        if event.name == _MESSAGE:
            line: LogLine = document
            yield line

    def _notice(self, said: str) -> None:
        if said:
            self.notice(said)
