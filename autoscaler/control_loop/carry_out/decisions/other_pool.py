"""To which other of its pools does a waiting job go?"""

from __future__ import annotations

from cluster.models import Pool

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.explained import ExplainedDecision


def pool_of(view: LiveJob, decision: ExplainedDecision) -> Pool | None:
    """Return it; None: the job stays in the pool where it is."""
    name = decision.decision.pool
    return None if name is None else next(one for one in view.other_pools if one.name == name)
