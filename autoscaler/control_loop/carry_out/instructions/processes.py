"""How are orders given to the worker host? Those for many jobs together.

All that is asked of the database is asked first. So nothing comes between the last look at the
lease and the orders, however many there are.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from cluster.worker_host import HostUnavailable, LaunchRefused
from django.db import DatabaseError, InterfaceError
from storage.data.sources import DataUnavailable
from tenancy.image_rules import ImageNotAllowed
from tenancy.secrets.team_secrets import SecretUnavailable

from autoscaler.control_loop.carry_out import launches
from autoscaler.control_loop.carry_out.start_mounts import StartUnavailable
from autoscaler.control_loop.lease.exclusive import LeaseLost
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.control_loop.traces import start_spans
from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.instructions import (
    Forget,
    HostInstruction,
    StartCoordinator,
    StartWorkers,
    StopProcess,
)
from autoscaler.reconciling.snapshot import RefusedProcesses
from jobs.models import GpuClaim

Claims = Mapping[str, Sequence[int]]  # indices of GPUs, by worker
Step = Callable[[], None]

_REASONS: Final[Mapping[type[Exception], JobReason]] = {
    LaunchRefused: JobReason.LAUNCH_REFUSED,
    DataUnavailable: JobReason.DATA_UNAVAILABLE,
    StartUnavailable: JobReason.START_UNAVAILABLE,
    SecretUnavailable: JobReason.SECRET_UNAVAILABLE,
    ImageNotAllowed: JobReason.IMAGE_UNAVAILABLE,
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PreparedInstruction:
    """An order that needs nothing more of the database; or why there is none."""

    order: HostInstruction
    give: Step


def give(
    ordered: Sequence[tuple[LiveJob, Sequence[HostInstruction]]], context: TickContext
) -> dict[str, RefusedProcesses | Exception | None]:
    """Give each job's orders one after the other, up to the first that fails; return why it did.

    A start that waits for a node is no error.

    Raises:
        LeaseLost: another process holds the lease now.
    """
    if not ordered:
        return {}
    claims = _claims(order for _, orders in ordered for order in orders)
    prepared = [(view, _prepared(view, orders, claims, context)) for view, orders in ordered]
    with context.processes.together():
        return {view.id: _give(steps, view) for view, steps in prepared}


def _give(
    steps: Iterable[_PreparedInstruction], view: LiveJob
) -> RefusedProcesses | Exception | None:
    for one in steps:
        try:
            with start_spans.told(one.order, view):
                one.give()
        except LeaseLost:
            raise
        except HostUnavailable as problem:
            if not isinstance(one.order, StartCoordinator | StartWorkers):
                return problem
            extra = {"action": "start", "job_id": view.id}
            _log.warning("Starts wait: %s", problem, extra=extra)
            return None
        except tuple(_REASONS) as problem:
            return _refused(one.order, problem)
        except Exception as problem:  # noqa: BLE001 - of this job alone
            return problem
    return None


def _refused(order: HostInstruction, problem: Exception) -> RefusedProcesses:
    reason = next(word for kind, word in _REASONS.items() if isinstance(problem, kind))
    workers = order.workers if isinstance(order, StartWorkers) else ()
    return RefusedProcesses(reason=reason, why=str(problem), workers=workers)


def _claims(orders: Iterable[HostInstruction]) -> Claims:
    """The GPUs of all workers that are to start."""
    workers = [one for order in orders if isinstance(order, StartWorkers) for one in order.workers]
    found: dict[str, list[int]] = defaultdict(list)
    if workers:
        rows = GpuClaim.objects.filter(worker__in=workers).order_by("gpu_index")
        for worker, index in rows.values_list("worker_id", "gpu_index"):
            found[worker].append(index)
    return found


def _prepared(
    view: LiveJob, orders: Iterable[HostInstruction], claims: Claims, context: TickContext
) -> list[_PreparedInstruction]:
    """What cannot be prepared fails when it is to be given, after the orders before it."""
    steps = []
    for order in orders:
        try:
            step = _PREPARED_BY[type(order)](order, view, claims, context)
        except (DatabaseError, InterfaceError):
            raise
        except Exception as problem:  # noqa: BLE001 - of this job alone
            step = partial(_raise, problem)
        steps.append(_PreparedInstruction(order=order, give=step))
    return steps


def _raise(problem: Exception) -> None:
    raise problem


def _stop(order: StopProcess, _: LiveJob, __: Claims, context: TickContext) -> Step:
    return partial(context.processes.stop, order.process, grace_seconds=order.grace_seconds)


def _forget(order: Forget, _: LiveJob, __: Claims, context: TickContext) -> Step:
    return partial(context.processes.forget, order.process)


def _start_coordinator(
    order: StartCoordinator, view: LiveJob, _: Claims, context: TickContext
) -> Step:
    node = context.around.node(order.node)
    return partial(context.processes.start, launches.of_coordinator(view, node, context))


def _start_workers(
    order: StartWorkers, view: LiveJob, claims: Claims, context: TickContext
) -> Step:
    workers = [worker for worker in view.members if worker.id in order.workers]
    node = context.around.node(order.coordinator_node)
    if order.is_first_set:
        launches.check_image(view, workers[0], context)
    made = [
        launches.of_worker(view, one, node, tuple(claims.get(one.id, ())), context)
        for one in workers
    ]
    return partial(context.processes.start, *made)


_PREPARED_BY: Final[
    Mapping[type[HostInstruction], Callable[[Any, LiveJob, Claims, TickContext], Step]]
] = {
    StopProcess: _stop,
    Forget: _forget,
    StartCoordinator: _start_coordinator,
    StartWorkers: _start_workers,
}
