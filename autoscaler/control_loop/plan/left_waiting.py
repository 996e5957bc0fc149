"""Which jobs are left waiting by a tick, and why? So that it is known what teams were owed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.gpu_accounts.owing import JobLeftWaiting
from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.plan import Action, Decision, Plan


def left_waiting(
    waiting: Iterable[LiveJob], plan: Plan, context: TickContext
) -> list[JobLeftWaiting]:
    """Return those that want GPUs now, in the order in which they come."""
    views = sorted(waiting, key=lambda view: (-view.job.priority, view.job.submitted_at, view.id))
    decisions = {one.job_id: one for one in plan.decisions} if views else {}
    return list(_left(views, decisions, context))


def _left(
    views: Iterable[LiveJob], decisions: Mapping[str, Decision], context: TickContext
) -> Iterator[JobLeftWaiting]:
    """Yield none in its back-off, none that waits for other jobs."""
    for view in views:
        lacking, decision = context.arriving.get(view.id), decisions.get(view.id)
        reason = lacking.waits_as if lacking else decision.reason if decision else None
        is_put_off = view.job.not_before is not None and view.job.not_before > context.now
        if is_put_off or reason is JobReason.WAITING_FOR_JOBS:
            continue
        pool = context.around.pools.get(view.job.pool_id)
        if pool is None:
            continue
        yield JobLeftWaiting(
            job=view.id,
            pool=pool.name,
            team=view.job.team.name,
            gpus=view.spec.elastic.min_workers * view.spec.resources.gpus_per_worker,
            reason=reason,
            starts=decision is not None and decision.action is Action.START,
        )


def open_gpus(context: TickContext) -> Counter[str]:
    """Return how many GPUs each pool could give work."""
    pools = context.around.pools
    found: Counter[str] = Counter()
    for node in context.around.nodes.values():
        if node.takes_work and node.pool_id in pools:
            found[pools[node.pool_id].name] += node.gpus
    return found
