"""How is a decision kept? As JSON, its words and all its numbers together."""

from __future__ import annotations

import math
from dataclasses import asdict
from datetime import datetime
from enum import StrEnum
from typing import Any

from autoscaler.control_loop.explained import ExplainedDecision
from autoscaler.planning.decisions import PoolOutcome
from autoscaler.planning.explanations.rendering import render
from autoscaler.planning.explanations.values import Explanation


def document(decided: ExplainedDecision, *, decided_at: datetime) -> dict[str, Any]:
    """The whole decision, as the members of the job's team may read it."""
    return _document(decided, decided.for_team, decided.message, decided_at)


def document_for_admins(decided: ExplainedDecision, *, decided_at: datetime) -> dict[str, Any]:
    """The whole decision, with the names of other teams' jobs."""
    return _document(decided, decided.explanation, render(decided.explanation), decided_at)


def names_other_teams_jobs(decided: ExplainedDecision) -> bool:
    """Whether admins read more than the team."""
    return decided.for_team != decided.explanation


def plain(outcome: PoolOutcome) -> dict[str, Any]:
    """A pool's part of the plan."""
    cleaned: dict[str, Any] = _storable(asdict(outcome))
    return cleaned


def _document(
    decided: ExplainedDecision, explanation: Explanation, message: str, decided_at: datetime
) -> dict[str, Any]:
    allocation = decided.allocation
    fields: dict[str, Any] = {
        **asdict(decided.decision),
        "message": message,
        "workers": allocation.workers if allocation else 0,
        "global_batch_size": allocation.global_batch_size if allocation else None,
        "explanation": {"kind": type(explanation).__name__.lower(), **asdict(explanation)},
        "decided_at": decided_at.isoformat(),
    }
    cleaned: dict[str, Any] = _storable(fields)
    return cleaned


def _storable(value: Any) -> Any:
    """What JSON can hold: a number that is not finite becomes null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, dict):
        return {str(name): _storable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(one) for one in value]
    return value
