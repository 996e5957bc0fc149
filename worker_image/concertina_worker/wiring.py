"""What is a job made of? Found out once, from the environment, where a script calls `init`."""

from __future__ import annotations

import os

from concertina_worker.collective.gpu_offer import GpuOffer
from concertina_worker.device import chosen, gpu_watch
from concertina_worker.environment import WorkerEnvironment, hide_fixed_size
from concertina_worker.job import ElasticJob, Rescale
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.coordinator_link.coordinator_line import CoordinatorLine
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.protocol import GpuExchange
from concertina_worker.rehearsal import rehearse
from concertina_worker.training.ending import TrainingEnd
from concertina_worker.training.reporting.progress import ProgressReporter
from concertina_worker.training.script_checks.pitfalls import ElasticityWarning, ScriptError

__all__ = ["ElasticityWarning", "Job", "Rescale", "ScriptError", "init"]

Job = ElasticJob  # as scripts call it: `elastic.Job`


def init() -> ElasticJob:
    """Find out where this script runs; on the platform, meet the coordinator.

    Raises:
        EnvironmentVariableError: the platform's variables make no sense.
    """
    environment = WorkerEnvironment.read(os.environ)
    device = chosen.choose(environment.gpu_type)
    if environment.platform is None:
        alone = Alone()
        alone.start(keeps_checkpoints=environment.checkpoints is not None)
        return ElasticJob(environment, alone, device, _ending(alone))
    hide_fixed_size(os.environ)
    rehearse()
    is_for_nccl = environment.gpu_exchange is GpuExchange.NCCL
    gpu = GpuOffer(chosen.identity(device) if is_for_nccl else "")
    lost_seconds = environment.coordinator_lost_seconds
    membership = WorkerMembership(
        CoordinatorLine(environment.platform, gpu, lost_seconds=lost_seconds)
    )
    membership.start()
    gpu_watch.watch(environment.gpus, membership.tell)
    return ElasticJob(environment, membership, device, _ending(membership))


def _ending(membership: WorkerMembership | Alone) -> TrainingEnd:
    ending = TrainingEnd(membership, ProgressReporter(membership))
    ending.watch()
    return ending
