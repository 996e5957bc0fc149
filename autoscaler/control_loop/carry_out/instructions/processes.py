"""How is each order given to the worker host? One function for each."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cluster.models import Node
from cluster.worker_host import HostUnavailable, LaunchRefused
from tenancy.image_rules import ImageNotAllowed
from tenancy.secrets.team_secrets import SecretUnavailable

from autoscaler.control_loop.carry_out import launches
from autoscaler.control_loop.observe.jobs.job_view import JobView
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.instructions import (
    Forget,
    Order,
    StartCoordinator,
    StartWorkers,
    StopProcess,
)
from autoscaler.reconciling.snapshot import Refused
from jobs.models import Job

_log = logging.getLogger(__name__)


def give(orders: Sequence[Order], view: JobView, context: TickContext) -> Refused | None:
    """Give them one after the other, up to the first that is refused.

    Raises:
        HostUnavailable: a node does not answer; a start that waits for it is no error.
    """
    for order in orders:
        try:
            _GIVEN_BY[type(order)](order, view, context)
        except HostUnavailable as problem:
            if not isinstance(order, StartCoordinator | StartWorkers):
                raise
            extra = {"action": "start", "job_id": view.id}
            _log.warning("Starts wait: %s", problem, extra=extra)
            return None
        except LaunchRefused as problem:
            return _refused(order, JobReason.LAUNCH_REFUSED, problem)
        except SecretUnavailable as problem:
            return _refused(order, JobReason.SECRET_UNAVAILABLE, problem)
        except ImageNotAllowed as problem:
            return _refused(order, JobReason.IMAGE_UNAVAILABLE, problem)
    return None


def _refused(order: Order, reason: JobReason, problem: Exception) -> Refused:
    workers = order.workers if isinstance(order, StartWorkers) else ()
    return Refused(reason=reason, why=str(problem), workers=workers)


def stop_process(order: StopProcess, _: JobView, context: TickContext) -> None:
    context.processes.stop(order.process, grace_seconds=order.grace_seconds)


def forget(order: Forget, _: JobView, context: TickContext) -> None:
    context.processes.forget(order.process)


def start_coordinator(order: StartCoordinator, view: JobView, context: TickContext) -> None:
    if view.job.coordinator_node != order.node or view.job.takes_workers_token:
        changes = {"coordinator_node": order.node, "takes_workers_token": False}
        with context.changing(view.id):
            Job.objects.filter(pk=view.id).update(**changes)
    node = Node.objects.get(name=order.node)
    context.processes.start(launches.of_coordinator(view, node, context))


def start_workers(order: StartWorkers, view: JobView, context: TickContext) -> None:
    workers = [worker for worker in view.members if worker.id in order.workers]
    node = Node.objects.get(name=order.coordinator_node)
    if order.is_first_set:
        launches.check_image(view, workers[0], context)
    context.processes.start(*(launches.of_worker(view, one, node, context) for one in workers))


_GIVEN_BY: Final[Mapping[type[Order], Callable[[Any, JobView, TickContext], None]]] = {
    StopProcess: stop_process,
    Forget: forget,
    StartCoordinator: start_coordinator,
    StartWorkers: start_workers,
}
