"""How is a log followed over broken connections without missing or repeating a line?

A stream that is opened again begins with lines that were read before. Each worker's lines carry
times that never go back, so what is new is known from two facts per worker: the time of its last
line, and how many of its lines had that time.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from concertina.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from concertina.documents import LogLine
    from concertina.retrying import Clock, Patience
    from concertina.transport import Transport

REOPEN_SECONDS: Final = 0.5


@dataclass(slots=True, kw_only=True)
class _Position:
    """How far one worker's lines have been read."""

    at: str
    lines_at: int  # lines read that bear this time
    lines_at_reread: int = 0  # of them, met again since the stream was opened anew
    is_catching_up: bool = False  # nothing new met since then


class Deduplicator:
    """Knows which lines are new, over any number of overlapping streams."""

    def __init__(self) -> None:
        self._positions: dict[str, _Position] = {}

    def begin_stream(self) -> None:
        for position in self._positions.values():
            position.lines_at_reread = 0
            position.is_catching_up = True

    def settle(self, at: str) -> None:
        """Take all lines of this time for read: some of them may have been left out."""
        for position in self._positions.values():
            if position.at == at:
                position.lines_at = sys.maxsize

    def is_new(self, line: LogLine) -> bool:
        """Whether `line` has not been met before; remembers it."""
        position = self._positions.get(line["worker"])
        if position is None or (position.is_catching_up and line["at"] > position.at):
            self._positions[line["worker"]] = _Position(at=line["at"], lines_at=1)
            return True
        if position.is_catching_up:
            position.lines_at_reread += line["at"] == position.at
            if line["at"] < position.at or position.lines_at_reread <= position.lines_at:
                return False
            position.is_catching_up = False
        position.lines_at = position.lines_at + 1 if line["at"] == position.at else 1
        position.at = line["at"]
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """One message of an event stream."""

    name: str
    data: str


def server_events(lines: Iterable[str]) -> Iterator[ServerEvent]:
    """Split an event stream's lines into its messages; comments (keep-alives) are dropped."""
    name, data = "message", list[str]()
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data or name != "message":
                yield ServerEvent(name=name, data="\n".join(data))
            name, data = "message", []
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFollower:
    """Reads a job's log to its end."""

    transport: Transport
    clock: Clock
    patience: Patience

    def lines(
        self, job_id: str, *, worker: str | None, snapshot: Sequence[LogLine], since: str
    ) -> Iterator[LogLine]:
        """The lines of `snapshot`, then each one that it lacks, once.

        Lines before `since` were left out of the snapshot on purpose. A stream that was open and
        broke, or was silent for long, is opened again without a word.

        Raises:
            Unreachable: no stream could be opened for longer than the patience lasts.
        """
        seen = Deduplicator()
        yield from (line for line in snapshot if seen.is_new(line))
        seen.settle(since)
        path, params = f"/jobs/{job_id}/logs", {"follow": "true", "worker": worker}
        while True:
            seen.begin_stream()
            was_open = False
            try:
                with self.transport.stream(path, params=params) as stream:
                    was_open = True
                    self.patience.renew()
                    for event in server_events(stream):
                        if event.name == "end":
                            return
                        line: LogLine = json.loads(event.data)
                        if line["at"] >= since and seen.is_new(line):
                            yield line
            except Unreachable as error:
                if not was_open:
                    self.patience.wait_after(error)
            if was_open:
                self.clock.sleep(REOPEN_SECONDS)
