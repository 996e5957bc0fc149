"""Which of the last lines of a worker tells why it failed?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from cluster.worker_host import LogLine

LINES_KEPT: Final = 20  # with a failure: enough for a traceback
LINES_READ: Final = 200  # guessed: what others of its threads may say after an exception
_LONGEST_LINE: Final = 500  # characters; guessed: what people read of a line
_TRACEBACK: Final = "Traceback (most recent call last)"
_OURS: Final = "concertina: "
_ESCAPES: Final = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def kept(lines: Sequence[LogLine]) -> tuple[str, ...]:
    """The last of them, as text that can be shown anywhere."""
    return tuple(_short(line.text) for line in lines[-LINES_KEPT:])


def telling(lines: Sequence[LogLine]) -> str:
    """The last exception; else what was last said on stderr not long ago; else the last line.

    A progress bar without an end may be the last line of all.
    """
    errors = [line.text for line in lines if line.stream == "stderr"]
    lately = lines[-LINES_KEPT:]
    candidates = (
        *_exceptions(errors),
        *(line.text for line in reversed(lately) if line.stream == "stderr"),
        *(line.text for line in reversed(lines)),
    )
    return next(filter(None, (_short(text).strip() for text in candidates)), "")


def ours(lines: Sequence[LogLine]) -> str:
    """The last line that the worker's own runtime wrote; empty: none did."""
    said = (line.text.strip() for line in reversed(lines) if line.stream == "stderr")
    return next((_short(text) for text in said if text.startswith(_OURS)), "")


def _exceptions(errors: Sequence[str]) -> Iterator[str]:
    """The line behind the newest traceback; launchers write `[rank0]: ` before each of its."""
    for place in reversed(range(len(errors))):
        prefix, is_traceback, _ = errors[place].partition(_TRACEBACK)
        if is_traceback:
            behind = (line.removeprefix(prefix) for line in errors[place + 1 :])
            yield from (line for line in behind if line.strip() and not line[0].isspace())
            return


def _short(line: str) -> str:
    """A progress bar may be one line of kilobytes."""
    shown = _ESCAPES.sub("", line)
    return shown if len(shown) <= _LONGEST_LINE else f"{shown[: _LONGEST_LINE - 1]}…"
