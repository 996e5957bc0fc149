"""How does the stack speak to the person at the terminal? One sentence a line, coloured if it may.

Standard library only: `status`, `down` and `doctor` speak before anything is installed.
"""

from __future__ import annotations

import errno
import io
import os
import sys

SHORT_SECONDS = 9.95  # shown with a tenth; rounds to less than ten
COLOURS = {"green": 32, "yellow": 33, "red": 31, "cyan": 36, "dim": 2, "bold": 1}


NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


def say(text: str = "") -> None:
    """Print one line at once. A full disk behind the output stops nobody who speaks."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except OSError as trouble:
        if trouble.errno not in NO_SPACE:
            raise


def speak_any_encoding() -> None:
    """Print a question mark for what the terminal's encoding lacks, instead of ending of it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def coloured(text: str, colour: str) -> str:
    """The text in a colour when standard output is a terminal that wants colours."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return text
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m"


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 05 s`, `2 h 03 min`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_left:02} min"
    if minutes:
        return f"{minutes} min {rest:02} s"
    return f"{seconds:.1f} s" if seconds < SHORT_SECONDS else f"{rest} s"
