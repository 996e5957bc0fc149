"""How often does the interpreter look for values that nobody needs? Rarely within a tick.

A tick makes hundreds of thousands of values, nearly all of which end with it and hang in no circle.
To look through all of them after each 700 new ones took a third of its processor time.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_NEW_VALUES: Final = 50_000  # guessed: some 10 MB of garbage at most before it is looked for

_changing: Final = threading.Lock()
_within: Final[list[tuple[int, int, int]]] = []  # what was set before each tick that is under way


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Look for garbage once for so many new values; after the last of several ticks as before."""
    with _changing:
        _within.append(_within[0] if _within else gc.get_threshold())
        _set_rarely(*_within[0])
    try:
        yield
    finally:
        with _changing:
            before = _within.pop()
            if not _within:
                gc.set_threshold(*before)


def _set_rarely(before: int, *others: int) -> None:
    """Leave it at never where it never looks."""
    gc.set_threshold(max(before, _NEW_VALUES) if before else before, *others)
