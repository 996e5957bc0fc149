"""How far has a container's log been copied? Exactly, so that no line is missed or repeated.

Docker tells a moment for each message, in order for each of the two streams (all pieces of a line
that is longer than 16 KiB have the moment of its first). So for each stream the moment of the
last message is kept, and how many messages had it; a message is new if it comes behind. The
cursor is written after the lines, beside the length that the log file had then: whoever goes on
finds in the file what was written since, and skips it when it comes again.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from cluster.docker_host.logs.messages import Message
from cluster.files import json_files
from cluster.logs import log_lines

_OVERLAP_SECONDS: Final = 10  # guessed: as far as two streams may be out of order


@dataclass(slots=True)
class LogPosition:
    """The position up to which one stream was copied."""

    at: str = ""  # moment of its last message, as Docker writes it: they sort like text
    count: int = 0  # how many of its last messages have that moment
    is_inside: bool = False  # its last message is not the end of a line
    rest: str = ""  # what of that line is held back, for it is being rewritten; a character a byte

    @property
    def held(self) -> bytes:
        return self.rest.encode("latin-1")


@dataclass(slots=True)
class LogCursor:
    """The positions in both streams of a container."""

    container: str = ""
    file_bytes: int = 0  # how long the log file was
    is_complete: bool = False
    positions: dict[str, LogPosition] = field(default_factory=dict)

    def since(self) -> int:
        """Return the second from which on Docker has to send lines."""
        latest = max((position.at for position in self.positions.values()), default="")
        unfinished = [position.at for position in self.positions.values() if position.is_inside]
        seconds = [_whole_seconds(at) for at in (latest, *unfinished)]
        return max(min([seconds[0] - _OVERLAP_SECONDS, *seconds[1:]]), 0)

    def lines(self, message: Message) -> list[bytes]:
        """Pass by a message, which is copied now; what of it becomes lines of the file.

        Always the same, for the same position: lines that come again are known by that.
        """
        position = self.positions.setdefault(message.stream, LogPosition())
        is_bare_end = not message.text and not position.rest and position.is_inside
        text = position.held + message.text
        position.count = position.count + 1 if position.at == message.at else 1
        position.at, position.is_inside, position.rest = message.at, not message.is_whole, ""
        if message.is_whole:  # a line may end where its last piece did
            return [] if is_bare_end else log_lines.pieces(log_lines.last_state(text))
        if b"\r" not in text:
            return log_lines.pieces(text)
        position.rest = log_lines.without_overwritten(text).decode("latin-1")
        state = log_lines.last_state(text.rpartition(b"\r")[0])
        return log_lines.pieces(state) if state else []

    def write(self, path: Path) -> None:
        document = {
            "container": self.container,
            "file_bytes": self.file_bytes,
            "is_complete": self.is_complete,
            "places": {
                stream: [position.at, position.count, position.is_inside, position.rest]
                for stream, position in self.positions.items()
            },
        }
        json_files.replace(path, document, is_durable=False)


def read(path: Path, *, container: str) -> LogCursor:
    """The cursor of this container; at the beginning if there is none, or another's.

    One that a power cut tore, since nobody waited for the disk, is none: the file itself tells
    which lines it has.
    """
    document: dict[str, Any] | None = None
    with contextlib.suppress(OSError, ValueError):
        document = json_files.read(path)
    if document is None or document["container"] != container:
        return LogCursor(container=container)
    positions = {stream: LogPosition(*position) for stream, position in document["places"].items()}
    return LogCursor(
        container=container,
        file_bytes=document["file_bytes"],
        is_complete=document["is_complete"],
        positions=positions,
    )


class LogDeduplicator:
    """Tells messages that come again from those behind the cursor; of one answer of Docker's."""

    def __init__(self, cursor: LogCursor) -> None:
        self._cursor = cursor
        self._known = {
            stream: LogPosition(position.at, position.count)
            for stream, position in cursor.positions.items()
        }

    def has(self, stream: str, at: str) -> bool:
        """True if this message is new; asked once for each, in their order."""
        known = self._known.get(stream)
        if known is None:
            return True
        if at < known.at:
            return False
        if at == known.at and known.count:
            known.count -= 1
            return False
        del self._known[stream]
        return True


def _whole_seconds(at: str) -> int:
    """`2026-11-21T07:33:19.123456789Z` in seconds since 1970, rounded down."""
    return int(datetime.fromisoformat(f"{at[:19]}+00:00").timestamp()) if at else 0
