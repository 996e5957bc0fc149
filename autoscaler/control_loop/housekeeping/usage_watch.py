"""What does each worker take of its node, and which jobs are idle? Nodes are read again and again.

No tick waits: a thread asks the nodes, a later tick writes down what all of them told, in as many
statements for a thousand jobs as for one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import fmean
from typing import Final

from cluster.background.background_jobs import BackgroundJobs
from cluster.models import Node
from cluster.usage.readings import SAMPLE_SECONDS, GpuSample, NodeGauge, NodeReading, ProcessUse

from autoscaler.control_loop.carry_out import launches
from autoscaler.control_loop.housekeeping.node_questions import NodeQuestions
from autoscaler.control_loop.tick_context import TickContext
from jobs.commands.usage import WorkerUse, record_usage
from jobs.models import GpuClaim

IDLE_BELOW: Final = 0.05  # of a GPU, or of a core where there are only slots; guessed: below a step
_KNOWN_FOR: Final = timedelta(seconds=60)  # guessed: some nodes were asked a few times meanwhile


def _questions() -> NodeQuestions[NodeReading]:
    background = BackgroundJobs(name="read-usage")
    return NodeQuestions(background=background, again_seconds=SAMPLE_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Holder:
    """A worker that holds GPUs, or slots."""

    job_id: str
    worker_id: str
    gpus: tuple[str, ...]  # as its node's driver calls them; empty: slots


@dataclass(frozen=True, slots=True, kw_only=True)
class _LastReading:
    """When a worker was read last, and whether it did anything; None: nobody can tell."""

    at: datetime
    is_idle: bool | None


@dataclass(slots=True)
class UsageWatch:
    """Reads nodes; remembers from tick to tick what it needs to tell how much came since."""

    _questions: NodeQuestions[NodeReading] = field(default_factory=_questions)
    _before: dict[str, tuple[float, ProcessUse]] = field(default_factory=dict)  # by worker
    _seen: dict[str, _LastReading] = field(default_factory=dict)  # by worker

    def go_on(self, gauge: NodeGauge, context: TickContext) -> None:
        """Write down what nodes told since the last tick, and ask those that are due.

        Raises:
            LeaseLost: another process holds the lease now.
        """
        readings = {
            answer.node.name: answer.value
            for answer in self._questions.new_answers()
            if answer.value is not None
        }
        if readings:
            self._take(readings, context)
        holding = Node.objects.filter(silent_since=None, claims__isnull=False).distinct()
        self._questions.ask(holding, gauge.read, context)

    def _take(self, readings: Mapping[str, NodeReading], context: TickContext) -> None:
        holders = _holders()
        uses = list(self._uses(readings, holders, context.now))
        workers = {one.worker_id for some in holders.values() for one in some}
        self._before = {name: one for name, one in self._before.items() if name in workers}
        self._seen = {name: one for name, one in self._seen.items() if name in workers}
        idle, busy = self._judged(holders, {use.job_id for use in uses}, context.now)
        with context.fence.transaction():
            record_usage(uses, idle=idle, busy=busy, now=context.now)

    def _uses(
        self,
        readings: Mapping[str, NodeReading],
        holders: Mapping[str, Sequence[_Holder]],
        now: datetime,
    ) -> Iterator[WorkerUse]:
        for node, reading in readings.items():
            for holder in holders.get(node, ()):
                process = reading.processes.get(holder.worker_id)
                if process is None:
                    continue
                cores = self._cores(holder.worker_id, process, reading.at_seconds)
                gpus = [reading.gpus[gpu] for gpu in holder.gpus if gpu in reading.gpus]
                use = _use(holder, cores, process, gpus)
                self._seen[holder.worker_id] = _LastReading(at=now, is_idle=_is_idle(use, holder))
                yield use

    def _cores(self, worker: str, now: ProcessUse, at_seconds: float) -> float | None:
        """Return how many were busy since the last look."""
        before = self._before.get(worker)
        self._before[worker] = (at_seconds, now)
        if before is None or at_seconds <= before[0]:
            return None
        return max(now.cpu_seconds - before[1].cpu_seconds, 0.0) / (at_seconds - before[0])

    def _judged(
        self, holders: Mapping[str, Sequence[_Holder]], read: set[str], now: datetime
    ) -> tuple[list[str], list[str]]:
        """Return which jobs that were read are idle and which not, if all workers are known to be.

        One of which somebody was not read lately counts as neither.
        """
        workers: dict[str, list[str]] = defaultdict(list)
        for some in holders.values():
            for one in some:
                workers[one.job_id].append(one.worker_id)
        idle, busy = [], []
        for job in sorted(read):
            known = [self._known(worker, now) for worker in workers[job]]
            if all(known):
                idle.append(job)
            elif False in known:
                busy.append(job)
        return idle, busy

    def _known(self, worker: str, now: datetime) -> bool | None:
        seen = self._seen.get(worker)
        return None if seen is None or now - seen.at > _KNOWN_FOR else seen.is_idle


def _holders() -> dict[str, list[_Holder]]:
    """Whoever holds GPUs, by node; one statement."""
    rows = GpuClaim.objects.select_related("node__pool", "worker").order_by("worker", "gpu_index")
    gpus: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for claim in rows.only(
        "gpu_index", "worker__job_id", "node__name", "node__gpu_uuids", "node__pool__gpu_type"
    ):
        node = claim.node
        names = node.cuda_names((claim.gpu_index,)) if launches.is_of_gpus(node.pool) else ()
        gpus[node.name, claim.worker.job_id, claim.worker_id] += names
    found: dict[str, list[_Holder]] = defaultdict(list)
    for (node_name, job_id, worker_id), of_worker in gpus.items():
        found[node_name].append(
            _Holder(job_id=job_id, worker_id=worker_id, gpus=tuple(dict.fromkeys(of_worker)))
        )
    return found


def _use(
    holder: _Holder, cores: float | None, process: ProcessUse, gpus: Sequence[GpuSample]
) -> WorkerUse:
    busy = [gpu.utilisation for gpu in gpus if gpu.utilisation is not None]
    memory = [gpu.memory_bytes for gpu in gpus if gpu.memory_bytes is not None]
    power = [gpu.power_watts for gpu in gpus if gpu.power_watts is not None]
    return WorkerUse(
        job_id=holder.job_id,
        worker_id=holder.worker_id,
        cpu_cores=cores,
        memory_bytes=process.memory_bytes,
        gpu_utilisation=fmean(busy) if busy else None,
        gpu_memory_bytes=sum(memory) if memory else None,
        gpu_power_watts=sum(power) if power else None,
    )


def _is_idle(use: WorkerUse, holder: _Holder) -> bool | None:
    """Judge it by its GPUs, which others could use; by processor time where it has only slots."""
    measure = use.gpu_utilisation if holder.gpus else use.cpu_cores
    return None if measure is None else measure < IDLE_BELOW
