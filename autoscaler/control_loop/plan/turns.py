"""Which of the jobs that go on waiting are told anew why, in this tick? A few, in turn.

Whatever changes in a pool changes what all its waiting jobs read: who holds how much, how many are
before them. To put that into words and write it down for hundreds of jobs takes a tick longer than
all else, and a queue may be filled by anybody. So each tick tells so many, those first who were
told longest ago, and new ones before all others. What is decided does not wait for its words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import Final

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.explained import ExplainedDecision

MOST_IN_A_TICK: Final = 25  # a queue of 200 is told anew within 8 ticks


def told_now(
    new: Sequence[ExplainedDecision], views: Mapping[str, LiveJob]
) -> list[ExplainedDecision]:
    """Return the decisions to wait that differ from what was said last and whose turn it is."""

    def told_at(decision: ExplainedDecision) -> str:
        return str(views[decision.job_id].job.explanation.get("decided_at", ""))

    return nsmallest(MOST_IN_A_TICK, new, key=told_at)
