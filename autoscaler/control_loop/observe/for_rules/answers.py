"""What does a rule want to know that the rows of a job do not tell? One function per question."""

from __future__ import annotations

from functools import singledispatch
from statistics import fmean

from cluster.worker_host import Failing, LogLine

from autoscaler.control_loop.observe.for_rules.memory_limits import memory_limit
from autoscaler.control_loop.observe.for_rules.snapshots import node_snapshot
from autoscaler.control_loop.observe.jobs import seats
from autoscaler.control_loop.observe.jobs.arrangements import arrangement_of
from autoscaler.control_loop.observe.jobs.claims import owners_wait_since
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.reconciling.questions import (
    BusyCores,
    CoresOf,
    HasRoomForNextSet,
    KeptLines,
    KillsForMemory,
    LastLines,
    MemoryLimit,
    NewlySlowNodes,
    NodeNamed,
    OwnersWaitSince,
    Question,
)
from autoscaler.reconciling.worker_snapshot import NodeSnapshot
from jobs.models import Worker
from jobs.queries.curves.usage import busy_cores
from jobs.queries.stragglers import LATELY, slow_nodes


@singledispatch
def answer(question: Question[object], view: LiveJob, context: TickContext) -> object:
    """Look it up, of this job and now."""
    raise NotImplementedError(question, view, context)


@answer.register
def cores_of(question: CoresOf, view: LiveJob, _: TickContext) -> BusyCores | None:
    read = busy_cores(view.id, question.worker)
    return BusyCores(usually=fmean(read), lately=read[-1]) if read else None


@answer.register
def last_lines(question: LastLines, view: LiveJob, context: TickContext) -> tuple[LogLine, ...]:
    return context.processes.last_lines(question.worker, question.count, job_id=view.id)


@answer.register
def memory_limit_of(question: MemoryLimit, view: LiveJob, _: TickContext) -> int | None:
    worker = next(worker for worker in view.workers if worker.id == question.worker)
    return memory_limit(worker.row, view.spec)


@answer.register
def kept_lines(question: KeptLines, _: LiveJob, __: TickContext) -> tuple[str, ...]:
    return tuple(Worker.objects.values_list("last_lines", flat=True).get(pk=question.worker))


@answer.register
def kills_for_memory(question: KillsForMemory, view: LiveJob, _: TickContext) -> int:
    killed = Worker.objects.filter(job_id=view.id, failing=Failing.OUT_OF_MEMORY)
    return killed.filter(counted_at__gt=question.since).count()


@answer.register
def newly_slow_nodes(
    question: NewlySlowNodes, view: LiveJob, context: TickContext
) -> frozenset[str]:
    now = context.now
    slow = question.among.intersection(slow_nodes(now, team=view.job.team_id))
    known = Worker.objects.filter(node__name__in=slow, slowness_notice_at__gt=now - LATELY)
    return slow.difference(known.values_list("node__name", flat=True)) if slow else slow


@answer.register
def node_named(question: NodeNamed, _: LiveJob, context: TickContext) -> NodeSnapshot | None:
    node = context.around.find_node(question.name)
    return None if node is None else node_snapshot(node)


@answer.register
def owners_wait(_: OwnersWaitSince, view: LiveJob, context: TickContext) -> object:
    whose = (view.job.team_id, view.job.pool_id)
    if whose not in context.owners_wait_since:
        context.owners_wait_since[whose] = owners_wait_since(view.job, context.now)
    return context.owners_wait_since[whose]


@answer.register
def has_room_for_next_set(_: HasRoomForNextSet, view: LiveJob, context: TickContext) -> bool:
    wanted = arrangement_of(view.assignment).seats if view.assignment else ()
    return seats.are_free(view.job, wanted, now=context.now)
