"""Who may have a shell beside a worker, and beside which one?"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

import redis
from django.conf import settings
from rest_framework import exceptions, status
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal

from autoscaler.control_loop.wakeup_flag import kept_client
from control_plane.shells import mailbox
from control_plane.shells.orders import (
    CLIENT_SECONDS,
    MOST_OF_ALL,
    MOST_OF_HOLDER,
    MOST_OF_JOB,
    ShellOrder,
)
from control_plane.web import leased_slots
from jobs.models import Assignment, Job, Worker
from jobs.queries import visible_jobs
from jobs.worker_phase import WorkerPhase

_RETRY_SECONDS: Final = 10.0
_THERE: Final = (WorkerPhase.STARTING, WorkerPhase.READY, WorkerPhase.TRAINING, WorkerPhase.LEAVING)
_log: Final = logging.getLogger(__name__)


class NoShellNow(exceptions.APIException):
    """There can be no shell beside a worker of this job."""

    status_code = status.HTTP_409_CONFLICT


class TooManyShells(exceptions.Throttled):
    """There are as many shells as there may be."""

    def __init__(self, whose: int) -> None:
        said = (
            f"This job has {MOST_OF_JOB} shells already, the most that one job may have.",
            f"You have {MOST_OF_HOLDER} shells already, the most that one person may have.",
            f"There are {MOST_OF_ALL} shells already, the most that this installation has at once.",
        )[whose - 1]
        super().__init__(wait=_RETRY_SECONDS, detail=f"{said} End one of them.")


class NobodyPassesOn(exceptions.APIException):
    """What passes words on between people and workers does not answer now; try again."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = __doc__
    wait = _RETRY_SECONDS


def find_job_to_enter(principal: Principal, job_id: str) -> Job:
    """Return a job beside whose workers the principal may run commands.

    Raises:
        JobNotFound: unknown, or of another team, which looks the same.
        PermissionDenied: the principal sees it, and no more.
        NoShellNow: shells are not on here.
    """
    job = visible_jobs.find_job(principal, job_id)
    is_own = principal.person_id is not None and job.person_id == principal.person_id
    if not principal.may_in(Permission.ENTER_ALL_JOBS, job.team_id) and not (
        is_own and principal.may_in(Permission.ENTER_OWN_JOBS, job.team_id)
    ):
        raise exceptions.PermissionDenied(
            "Shells beside a job's workers are for whoever submitted it, and for leads; tokens of"
            " teams, and those limited to pools or labels, have none."
        )
    _check_is_on(job)
    return job


def _check_is_on(job: Job) -> None:
    configured = settings.CONCERTINA
    if not configured.shells.includes(job.team.name):
        raise NoShellNow(
            f"Shells are not on for team {job.team.name}. An admin turns them on where the service"
            f" runs: CONCERTINA_SHELL_TEAMS={job.team.name}, or * for all teams."
        )
    if configured.worker_host.why_no_shells:
        raise NoShellNow(configured.worker_host.why_no_shells)


def find_worker(job: Job, wanted: str) -> Worker:
    """Return a worker that is there: of this id, of this rank, or else the first.

    Raises:
        NoShellNow: there is no such worker now; it says which there are.
    """
    there = {
        one.id: one
        for one in Worker.objects.filter(job=job, phase__in=_THERE, attempt=job.attempt)
        .select_related("node")
        .order_by("created_at", "id")
    }
    if not there:
        raise NoShellNow(f"{job.name} has no worker now; it is {job.state}.")
    newest = Assignment.objects.filter(job=job, revision=job.revision).first()
    ranked = [one for one in (newest.worker_ids if newest else []) if one in there]
    if not wanted:
        return there[ranked[0]] if ranked else next(iter(there.values()))
    if wanted in there:
        return there[wanted]
    if wanted.isdecimal() and newest is not None and int(wanted) < len(newest.worker_ids):
        by_rank = there.get(newest.worker_ids[int(wanted)])
        if by_rank is not None:
            return by_rank
    raise NoShellNow(f"{job.name} has no worker {wanted} now. It has {', '.join(there)}.")


def take_slots(order: ShellOrder) -> None:
    """Count the shell, and mark that its client is there.

    Raises:
        TooManyShells: as many are open as may be.
        NobodyPassesOn: Valkey does not answer.
    """
    slots: Mapping[str, int] = mailbox.slots(order)
    arguments: list[Any] = [order.id, mailbox.LEASE_SECONDS, *slots.values()]
    try:
        client = kept_client()
        whose = int(client.eval(leased_slots.TAKE, len(slots), *slots, *arguments))
        if whose:
            raise TooManyShells(whose)
        client.set(mailbox.held(order.id), order.mark, ex=mailbox.LEASE_SECONDS)
        client.set(mailbox.heard(order.id), "1", ex=CLIENT_SECONDS)
    except (redis.RedisError, OSError) as problem:
        _log.warning("No shell can be opened: %s", problem, extra={"action": "shell"})
        raise NobodyPassesOn from problem


def put_input(shell: str, packed: bytes, *, mark: str, most: int) -> None:
    """Leave something for the command.

    Raises:
        NotFound: it is over, or somebody else's, or of another job.
        Throttled: the command is slower; nothing was taken.
        NobodyPassesOn: Valkey does not answer.
    """
    try:
        keys = (mailbox.inputs(shell), mailbox.held(shell), mailbox.heard(shell))
        arguments: tuple[Any, ...] = (packed, most, mailbox.LIST_SECONDS, mark, CLIENT_SECONDS)
        put = int(kept_client().eval(mailbox.PUT, len(keys), *keys, *arguments))
    except (redis.RedisError, OSError) as problem:
        raise NobodyPassesOn from problem
    if put < 0:
        raise exceptions.NotFound("This shell is over.")
    if put == 0:
        raise exceptions.Throttled(wait=1, detail="The command reads more slowly than this.")
