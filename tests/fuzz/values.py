"""Which values do programs stumble over, and how does one get into a document?"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Final

from hypothesis import strategies as st

EDGES: Final = st.sampled_from(
    [
        *(0, -1, 1, 2**31 - 1, 2**31, 2**63, 10**9, 10**15, 10**21, 10**400, -(10**400)),
        *(1e308, -1e308, 5e-324, 1e-300, -0.0, float("nan"), float("inf"), True, False, None),
        *("", "\0", "\ud800", "a" * 5000, "é\u202e\x1b[2J", "many", "training", "lost"),
        *([], {}, [[]], [None], {"": ""}, {"a": {"b": {}}}, ["a"] * 1001, [10**400] * 3),
    ]
)


def changed(document: Any, changes: Iterable[tuple[tuple[str, ...], Any]]) -> Any:
    """The document with these values at these places, as far as the places are still there."""
    for path, value in changes:
        at = document
        for name in path[:-1]:
            at = _below(at, name)
        if isinstance(at, dict):
            at[path[-1]] = copy.deepcopy(value)  # into which a later change may reach
    return document


def _below(at: Any, name: str) -> Any:
    if isinstance(at, dict):
        return at.get(name)
    return at[0] if isinstance(at, list) and at else None
