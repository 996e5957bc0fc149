"""Does a server that the stack needs answer? Each kind says how it is reached.

Standard library only: `./dev doctor` asks before anything is installed.
"""

from __future__ import annotations

from collections.abc import Callable


class NoServer(Exception):
    """It does not answer, or cannot run here; the message says why, and what helps."""


def answers(reach: Callable[[str], object], url: str) -> bool:
    """True if a server answers at this address now; `reach` raises NoServer where none does."""
    try:
        reach(url)
    except NoServer:
        return False
    return True
