"""What does an entry say of values? Not too much, and nothing that is secret.

Whoever notes values leaves secrets out; this hides what looks like one nevertheless.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

HIDDEN: Final = "(hidden)"
LONGEST_TEXT: Final = 200  # characters
MOST_ITEMS: Final = 50  # of a list or of an object
MOST_DEPTH: Final = 5
MOST_BYTES: Final = 4000  # of all that was before, and again of all that is after
_SECRET: Final = re.compile(
    r"passw|secret_?value|credential|api_?key|private_?key|(^|_)key$|(^|_)env($|\.)", re.IGNORECASE
)


def bounded(value: Any) -> Any:
    """Return the value as JSON has it, cut where it is too long."""
    kept = _kept(value, MOST_DEPTH)
    if len(json.dumps(kept)) <= MOST_BYTES:
        return kept
    if isinstance(kept, dict):
        return {"(too long)": sorted(kept)[:MOST_ITEMS]}
    return "(too long)"


def _kept(value: Any, depth: int) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return _inner(value, depth) if depth else "(too deep)"
    return value.isoformat() if isinstance(value, date) else _text(value)


def _inner(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return {_text(key): _named(str(key), inner, depth) for key, inner in _some(value.items())}
    ordered = sorted(value, key=str) if isinstance(value, set | frozenset) else value
    return [_kept(inner, depth - 1) for inner in _some(ordered)]


def _named(name: str, value: Any, depth: int) -> Any:
    if _SECRET.search(name) and value not in (None, "", [], {}):
        return HIDDEN
    return _kept(value, depth - 1)


def _some(items: Any) -> Any:
    return list(items)[:MOST_ITEMS]


def _text(value: Any) -> str:
    text = str(value).replace("\0", "").encode(errors="replace").decode()
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
