"""Until when has no rule anything to do for a job? A job that trains is at rest nearly always.

To ask all rules about each of a thousand such jobs takes a tick longer than to plan for them. What
is looked at here is cheaper, and is looked at once: as long as only time goes on, and steps and
reports come in, the answer holds. It may be too cautious, but never says rest where a rule would do
anything: `tests/reconciling` compares both in all the worlds that it searches.
"""

from __future__ import annotations

from datetime import datetime

from cluster.worker_host import Failing, ProcessPhase

from autoscaler.reconciling.assessments.disk_excess import excess_of, is_near
from autoscaler.reconciling.assessments.limits_of_use import no_limit_until
from autoscaler.reconciling.rules.ending.standstill import looked_into_at
from autoscaler.reconciling.snapshot import JobSnapshot
from autoscaler.reconciling.worker_snapshot import WorkerSnapshot
from jobs.job_mode import JobMode
from jobs.lifecycle import JobState
from jobs.worker_phase import WorkerPhase


def rests_until(job: JobSnapshot) -> datetime | None:
    """Return until when nothing is to be done; None: the rules have to be asked."""
    is_as_wanted = job.state is JobState.RUNNING and _trains_as_wanted(job) and _is_led(job)
    if not is_as_wanted or _is_to_be_told_off(job) or _is_idle(job):
        return None
    looked_at = no_limit_until(job)
    return looked_at and min(looked_at, looked_into_at(job))


def _trains_as_wanted(job: JobSnapshot) -> bool:
    """All that is wanted trains and can be seen, and nothing else holds a GPU."""
    wanted, newest = set(job.wanted), job.generation
    if not wanted or newest is None or not wanted <= set(newest.worker_ids):
        return False
    training = {worker.id for worker in job.workers if _trains(worker)}
    gone = {worker.id for worker in job.workers if _is_gone_for_good(worker)}
    return training == wanted and len(training | gone) == len(job.workers)


def _trains(worker: WorkerSnapshot) -> bool:
    is_fine = worker.phase is WorkerPhase.TRAINING and worker.is_running
    is_seen = worker.node.silent_since is None
    return is_fine and is_seen and not worker.is_straggler and not worker.is_given_up


def _is_gone_for_good(worker: WorkerSnapshot) -> bool:
    """It counts how many there are of those that were killed for their memory."""
    return worker.is_gone and worker.failing != Failing.OUT_OF_MEMORY


def _is_led(job: JobSnapshot) -> bool:
    """Its coordinator runs, or it has none."""
    process = job.coordinator.process
    if process is None:
        return job.spec.elastic.mode is JobMode.RESTART
    return process.phase is ProcessPhase.RUNNING


def _is_idle(job: JobSnapshot) -> bool:
    """It does nothing, or its people do not know yet that it does something again."""
    return job.idle_since is not None or job.notices.idle_since is not None


def _is_to_be_told_off(job: JobSnapshot) -> bool:
    """It failed too often, writes too much or soon will, has to give way, or was refused."""
    writes_too_much = excess_of(job) or is_near(job)
    is_failing = job.failures > job.spec.retry.max_restarts
    budget = job.context.used_up_budget
    gives_way = budget is not None and budget.pauses
    return bool(writes_too_much) or is_failing or gives_way or job.refused is not None
