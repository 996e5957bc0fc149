"""How is a decision kept? As JSON beside what it changed, with all its numbers."""

from __future__ import annotations

import math
from dataclasses import asdict
from datetime import datetime
from typing import Any

from autoscaler.planning.decisions import Decision, PoolOutcome


def document(decision: Decision, *, decided_at: datetime) -> dict[str, Any]:
    """The whole decision; what is not a finite number becomes null."""
    allocation = decision.allocation
    fields: dict[str, Any] = {
        **asdict(decision),
        "workers": allocation.workers if allocation else 0,
        "global_batch_size": allocation.global_batch_size if allocation else None,
        "decided_at": decided_at.isoformat(),
    }
    cleaned: dict[str, Any] = _storable(fields)
    return cleaned


def plain(outcome: PoolOutcome) -> dict[str, Any]:
    """A pool's part of the plan."""
    cleaned: dict[str, Any] = _storable(asdict(outcome))
    return cleaned


def _storable(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): _storable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(one) for one in value]
    return value
