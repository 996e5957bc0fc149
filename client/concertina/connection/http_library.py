"""Where is the library that speaks HTTP loaded? Here, without the command line that it brings."""

from __future__ import annotations

import sys

# It loads a command line of its own unless that is missing: a third of what it takes to load.
_IS_FIRST = sys.modules.setdefault("httpx._main", None) is None  # type: ignore[arg-type]  # means: missing
import httpx  # noqa: E402 - see above

if _IS_FIRST:
    del sys.modules["httpx._main"]

__all__ = ["httpx"]
