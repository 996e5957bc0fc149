"""Which processes should run and do not? Started here, in the tick that decided or any later."""

from __future__ import annotations

import logging
from typing import Any, Final

from cluster.models import Node
from cluster.worker_host import (
    Failing,
    HostUnavailable,
    LaunchRefused,
    ObservedProcess,
    ProcessPhase,
)
from django.db.models import Q
from tenancy.image_rules import ImageNotAllowed
from tenancy.team_secrets import SecretUnavailable

from autoscaler.control_loop import launches
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.observe import job_views
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.silence import told
from autoscaler.control_loop.upkeep.outcome import start_again, stop
from autoscaler.control_loop.upkeep.release import write_off
from autoscaler.job_vocabulary import EventKind, JobReason
from concertina_worker.protocol import ExitCode
from jobs import events
from jobs.lifecycle import State
from jobs.models import Event, Job, Worker

_REFUSALS: Final = frozenset({Failing.IMAGE_UNAVAILABLE, Failing.CANNOT_START})
_AFTER_A_CLEAN_EXIT_SECONDS: Final = 5.0  # its workers are about to end as well

_log = logging.getLogger(__name__)


def start_missing(view: JobView, shell: Shell) -> bool:
    """Start the coordinator, then every worker that has a row and no process."""
    try:
        return _keep_coordinator(view, shell) or _start_workers(view, shell)
    except LaunchRefused as refusal:
        message = f"The worker host refuses this job: {refusal}"
        return stop(
            view, shell, ends_as=State.FAILED, reason=JobReason.LAUNCH_REFUSED, message=message
        )
    except SecretUnavailable as problem:
        reason, message = JobReason.SECRET_UNAVAILABLE, str(problem)
        return stop(view, shell, ends_as=State.FAILED, reason=reason, message=message)
    except ImageNotAllowed as problem:
        reason, message = JobReason.IMAGE_UNAVAILABLE, str(problem)
        return stop(view, shell, ends_as=State.FAILED, reason=reason, message=message)
    except HostUnavailable as problem:
        extra = {"action": "start", "job_id": view.id}
        _log.warning("Starts wait: %s", problem, extra=extra)
        return False


def _start_workers(view: JobView, shell: Shell) -> bool:
    if not view.is_active or view.is_between_sets:
        return False
    missing = [
        worker
        for worker in view.members
        if worker.row.phase == Worker.Phase.STARTING
        and shell.processes.is_missing(worker.id)
        and not worker.is_unheard
    ]
    if not missing:
        return False
    try:
        launches.check_image(view, missing[0], shell)
        node = _coordinator_node(view)
        shell.processes.start(*(launches.of_worker(view, one, node, shell) for one in missing))
    except (LaunchRefused, SecretUnavailable) as problem:
        if not view.goes_on_without_newcomers:
            raise
        is_refused = isinstance(problem, LaunchRefused)
        reason = JobReason.LAUNCH_REFUSED if is_refused else JobReason.SECRET_UNAVAILABLE
        write_off(missing, view, shell, reason=reason, why=str(problem))
        return True
    return False


def _keep_coordinator(view: JobView, shell: Shell) -> bool:
    """See that it runs while it has somebody to coordinate; True: the job has changed.

    One that died may know what it could not tell yet: it is needed until the job is at its end.
    """
    ended = view.coordinator
    has_somebody = bool(view.live) and (view.is_active or view.state is State.STOPPING)
    has_more_to_tell = view.state is State.STOPPING and ended is not None
    if not view.has_coordinator or not (has_somebody or has_more_to_tell):
        return False
    if ended is None:
        return shell.processes.is_missing(view.coordinator_id) and _begin_coordinator(view, shell)
    if ended.phase is not ProcessPhase.EXITED or _has_done_its_work(view, ended.exit_code):
        return False
    if ended.exit_code == ExitCode.PORT_IN_USE and view.is_starting_over:
        why = f"Port {view.job.coordinator_port} of its coordinator is in use."
        return start_again(view, shell, reason=JobReason.PORT_IN_USE, why=why)
    if ended.failing in _REFUSALS and view.is_starting_over:
        return _fail_for(ended, view, shell)
    if shell.seconds_since(ended.ended_at) >= _pause_seconds(view, ended.exit_code, shell):
        _restart_coordinator(view, ended.exit_code, shell)
    return False


def _fail_for(ended: ObservedProcess, view: JobView, shell: Shell) -> bool:
    """Workers cannot meet without a coordinator; waiting would hold their GPUs for nothing."""
    message = (
        f"Its coordinator could not be started: {ended.note}. It runs the platform's own image:"
        " ask an admin to see to it, then submit again."
    )
    reason = JobReason(str(ended.failing))
    return stop(view, shell, ends_as=State.FAILED, reason=reason, message=message)


def _has_done_its_work(view: JobView, exit_code: int | None) -> bool:
    """It ended well, and nobody who is left trains: their scripts are about to end, or take long.

    One that was asked to end from outside ends just as well, but leaves workers that train.
    """
    if exit_code != ExitCode.COMPLETED:
        return False
    return view.state is State.STOPPING or all(
        worker.row.phase == Worker.Phase.LEAVING for worker in view.live
    )


def _begin_coordinator(view: JobView, shell: Shell) -> bool:
    """Nobody sees it. True: it was on a lost node, and another takes over elsewhere."""
    node = _coordinator_node(view)
    if node.silent_since is None:
        _start_coordinator(view, node, shell)
        return False
    return shell.is_lost(node) and _move_coordinator(view, node, shell)


def _start_coordinator(view: JobView, node: Node, shell: Shell) -> None:
    if view.job.coordinator_node != node.name or view.job.takes_workers_token:
        changes = {"coordinator_node": node.name, "takes_workers_token": False}
        with shell.changing(view.id):
            Job.objects.filter(pk=view.id).update(**changes)
    shell.processes.start(launches.of_coordinator(view, node, shell))


def _move_coordinator(view: JobView, lost: Node, shell: Shell) -> bool:
    """To a node that has one of its workers."""
    heard = [worker.node for worker in view.live if worker.node.silent_since is None]
    if not heard:
        return False
    message = f"Its coordinator moves to node {heard[0].name}: {told(lost)}."
    return _begin_term(view, heard[0], shell, reason=JobReason.NODE_LOST, message=message)


def _restart_coordinator(view: JobView, exit_code: int | None, shell: Shell) -> None:
    """At once, however long its host takes to remove the old one: that is an orphan now."""
    node = _coordinator_node(view)
    message = "The coordinator was started again; training went on without it."
    if _begin_term(view, node, shell, message=message, data={"exit_code": exit_code}):
        (renewed,) = job_views([view.id], shell.processes)
        _start_coordinator(renewed, node, shell)


def _begin_term(view: JobView, node: Node, shell: Shell, **told_as: Any) -> bool:
    """The next coordinator has another name, and is not taken for one that may still be there."""
    term = view.job.coordinator_term
    mine = Job.objects.filter(pk=view.id, coordinator_term=term)
    with shell.changing(view.id):
        is_begun = mine.update(coordinator_term=term + 1, coordinator_node=node.name)
        if is_begun:
            events.record(job_id=view.id, kind=EventKind.COORDINATOR_RESTARTED, **told_as)
    return bool(is_begun)


def _pause_seconds(view: JobView, exit_code: int | None, shell: Shell) -> float:
    """Longer each time, for one that ends as soon as it is started."""
    if exit_code == ExitCode.COMPLETED:
        return _AFTER_A_CLEAN_EXIT_SECONDS
    restarts = Event.objects.filter(
        Q(at__gt=view.state_since), job_id=view.id, kind=EventKind.COORDINATOR_RESTARTED
    ).count()
    return min(2.0**restarts, shell.limits.longest_back_off) if restarts else 0.0


def _coordinator_node(view: JobView) -> Node:
    """Where it runs: the same node, whoever leaves, unless that is lost."""
    named = Node.objects.filter(name=view.job.coordinator_node).first()
    if named is not None:
        return named
    oldest = min(view.live or view.workers, key=lambda worker: (worker.row.created_at, worker.id))
    return oldest.node
