"""How far has somebody read a job's log? As a text that goes with each line, to go on behind it.

For each process the position in its log, `-1-0:3f2` for the process `<job>-1-0`. Of a job with very
many processes only those that wrote last are named; before them stands `@` and a moment: whoever
wrote nothing since was read to the end. (Should one write again, it is read from its beginning.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final
from urllib.parse import quote

from cluster.logs.log_files import ProcessLog

MOST_CHARACTERS: Final = 6000  # servers take headers of 8190 bytes
_MOST_IN_AN_ADDRESS: Final = 3500  # as a browser writes it; servers take lines of 4094 bytes
_MOST_NAMED: Final = 100  # guessed: workers of one job that write at the same time
_PART: Final = re.compile(r"(-?[A-Za-z0-9][A-Za-z0-9-]{0,79}):([0-9a-f]{1,13})")
_MOMENT: Final = re.compile(r"@([0-9a-f]{1,16})")


class BadLogPosition(Exception):
    """This is no position in a log."""


@dataclass(slots=True)
class LogPositions:
    """The positions of one reader in the logs of a job."""

    job_id: str
    by_process: dict[str, int] = field(default_factory=dict)
    settled_at: int = 0  # nanoseconds: logs that nobody wrote to since, and not named, are read

    def of(self, log: ProcessLog) -> int:
        """The position in this log."""
        if log.process_id in self.by_process:
            return self.by_process[log.process_id]
        return log.end if log.written_at <= self.settled_at else 0

    def settle(self, logs: Iterable[ProcessLog]) -> None:
        """Forget of the logs that were read to the end those that are many, and old."""
        logs = sorted(logs, key=lambda log: (log.written_at, log.process_id))
        old = logs[: max(len(logs) - _MOST_NAMED, 0)]
        read = list(takewhile(lambda log: self.of(log) >= log.end, old))
        if not read:
            return
        rest = {log.process_id: self.of(log) for log in logs[len(read) :]}
        self.settled_at = max(self.settled_at, read[-1].written_at)
        self.by_process = rest

    def text(self) -> str:
        """Return what `parse` takes; empty: it would be too long, while many logs are not read yet.

        A reader then goes on from the text before, and reads again what came since.
        """
        is_told = self.settled_at or not self.by_process  # no text would be no position
        moment = [f"@{self.settled_at:x}"] if is_told else []
        named = (f"{self._short(name)}:{position:x}" for name, position in self.by_process.items())
        text = ",".join([*moment, *named])
        return text if len(quote(text, safe="")) <= _MOST_IN_AN_ADDRESS else ""

    def _short(self, process_id: str) -> str:
        mine = f"{self.job_id}-"
        return process_id.removeprefix(self.job_id) if process_id.startswith(mine) else process_id


def parse(text: str, *, job_id: str) -> LogPositions:
    """Raises: BadLogPosition."""
    positions = LogPositions(job_id)
    if len(text) > MOST_CHARACTERS:
        raise BadLogPosition
    for part in filter(None, text.split(",")):
        if moment := _MOMENT.fullmatch(part):
            positions.settled_at = int(moment[1], 16)
        elif named := _PART.fullmatch(part):
            name = f"{job_id}{named[1]}" if named[1].startswith("-") else named[1]
            positions.by_process[name] = int(named[2], 16)
        else:
            raise BadLogPosition
    return positions
