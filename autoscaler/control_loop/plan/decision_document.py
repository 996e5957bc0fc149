"""How is a decision kept? As JSON, its words and all its numbers together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Final

from autoscaler.planning.decisions.explanation import Explanation
from autoscaler.planning.decisions.plan import Decision, PoolOutcome

DECIDED_AT: Final = "decided_at"
_CLOSE: Final = 0.02  # guessed: a step time is known to a few percent
_MOMENTS: Final = 1e9  # larger numbers are seconds since 1970
_CLOSE_SECONDS: Final = 60.0
_AS_THEY_ARE: Final = frozenset({str, int, bool})


def plain(outcome: PoolOutcome) -> dict[str, Any]:
    """A pool's part of the plan."""
    cleaned: dict[str, Any] = _storable(outcome)
    return cleaned


def timeless(decision: Decision, explanation: Explanation, *, message: str) -> dict[str, Any]:
    """All but when it was decided."""
    allocation = decision.allocation
    document: dict[str, Any] = {
        **_fields(decision),
        "message": message,
        "workers": allocation.workers if allocation else 0,
        "global_batch_size": allocation.global_batch_size if allocation else None,
        "explanation": {"kind": explanation.kind.value, **_fields(explanation)},
    }
    cleaned: dict[str, Any] = _storable(document)
    return cleaned


def says_the_same(document: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    """True if whoever reads both learns nothing from the one that the other does not tell.

    Measured numbers and what follows from them move with every report and every second, without
    anything being decided or said otherwise: they count as equal while they are close. It is what
    is stored that they are compared with, so they never drift away.
    """
    return _is_close(document, {name: stored[name] for name in stored if name != DECIDED_AT})


def _is_close(value: Any, stored: Any) -> bool:
    if isinstance(value, float) and isinstance(stored, int | float):
        if abs(stored) > _MOMENTS:
            return abs(value - stored) <= _CLOSE_SECONDS
        return math.isclose(value, stored, rel_tol=_CLOSE)
    if isinstance(value, Mapping) and isinstance(stored, Mapping):
        return value.keys() == stored.keys() and all(
            _is_close(one, stored[name]) for name, one in value.items()
        )
    if isinstance(value, list) and isinstance(stored, list):
        return len(value) == len(stored) and all(map(_is_close, value, stored))
    return bool(value == stored)


def _storable(value: Any) -> Any:
    """Replace what JSON cannot hold: a number that is not finite becomes null."""
    if value is None or type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, list | tuple):
        return [_storable(one) for one in value]
    plain = _fields(value) if _field_names(value.__class__) else value
    if isinstance(plain, dict):
        return {str(name): _storable(one) for name, one in plain.items()}
    return value


def _fields(value: Any) -> dict[str, Any]:
    """List a dataclass's fields; `asdict` would copy all in them, hundreds of times in a tick."""
    return {name: getattr(value, name) for name in _field_names(value.__class__)}


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """None of a value that is no dataclass."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
