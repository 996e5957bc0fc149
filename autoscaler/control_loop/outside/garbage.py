"""How often does the interpreter look for values that nobody needs? Rarely within a tick.

A tick makes hundreds of thousands of values, nearly all of which end with it and hang in no circle.
To look through all of them after each 700 new ones took a third of its processor time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_NEW_VALUES: Final = 50_000  # guessed: some 10 MB of garbage at most before it is looked for


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Look for garbage once for so many new values; afterwards as before."""
    before, *others = gc.get_threshold()
    gc.set_threshold(max(before, _NEW_VALUES) if before else before, *others)
    try:
        yield
    finally:
        gc.set_threshold(before, *others)
