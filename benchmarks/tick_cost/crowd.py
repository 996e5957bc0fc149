"""Who trains, and what do they tell? Rows and processes as real jobs would have left them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from cluster.in_memory_host import InMemoryHost
from cluster.models import Node, Pool
from cluster.worker_host import Labels, Launch, ProcessRole
from django.db import connection
from django.utils import timezone
from tenancy.models import Quota, Team

from autoscaler.control_loop.observe.jobs.names import coordinator_id
from concertina_worker.protocol import ExitCode, MemberPhase
from jobs.commands.observations.sync import record_sync
from jobs.lifecycle import JobState
from jobs.models import Assignment, Generation, GpuClaim, Job, Measurement, Worker
from jobs.reports.job_token import Credential
from jobs.reports.sync_report import CheckedSyncReport
from jobs.spec.job_spec import parse
from jobs.worker_phase import WorkerPhase

GPUS_PER_NODE: Final = 8
TEAMS: Final = 10
ENDED: Final = 20  # as many times as train

# What every coordinator tells in a round: progress, speeds, and a step time that hardly moves.
_REPORT: Final = (
    """UPDATE jobs_job SET samples = samples + 2560, step = step + 10, coordinator_seen_at = now(),
       progress_at = now(), samples_per_second = 500 + random(), epoch = epoch + 0.01,
       values = jsonb_build_object('loss', random()) WHERE state = 'running'""",
    """UPDATE jobs_worker SET compute_seconds = 0.1 + random() / 100, relative_speed = 1.0,
       samples_per_second = 120 + random(), gpu_utilisation = 0.9 WHERE phase = 'training'""",
    """UPDATE jobs_measurement SET steps = steps + 10, updated_at = now(),
       step_seconds = step_seconds * (1 + (random() - 0.5) / 2000)
       WHERE workers >= 4""",
)
_ENDED: Final = """
    INSERT INTO jobs_job (id, name, state, state_since, finished_at, {rest})
    SELECT 'old' || n, 'old-' || n, 'completed', now() - interval '1 day' - n * interval '1 second',
           now() - interval '1 day' - n * interval '1 second', {rest}
    FROM jobs_job, generate_series(1, %s) n WHERE jobs_job.id = %s
"""


@dataclass(slots=True)
class Crowd:
    """All jobs of a cluster whose GPUs are all in use."""

    host: InMemoryHost
    jobs: int
    workers: int = 4  # of each job
    pools: int = 1
    is_still: bool = False  # all were changed a moment ago, and stay as they are for a day
    rng: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311
    _submitted: int = 0
    _teams: list[Team] = field(default_factory=list)
    _pools: list[Pool] = field(default_factory=list)

    def settle(self) -> None:
        """Fill an empty database."""
        each = -(-self.jobs * self.workers // (GPUS_PER_NODE * self.pools))
        for number in range(self.pools):
            pool = Pool.objects.create(name=f"pool{number}")
            self._pools.append(pool)
            Node.objects.bulk_create(
                Node(pool=pool, name=f"n{number}-{one}", gpus=GPUS_PER_NODE) for one in range(each)
            )
        for number in range(TEAMS):
            team = Team.objects.create(name=f"team{number}")
            self._teams.append(team)
            for pool in self._pools:
                guaranteed = each * GPUS_PER_NODE // TEAMS
                Quota.objects.create(team=team, pool=pool, guaranteed_gpus=guaranteed)
        self._train(self.submit(self.jobs))
        with connection.cursor() as cursor:
            own = {"id", "name", "state", "state_since", "finished_at"}
            columns = [one.column for one in Job._meta.concrete_fields]  # noqa: SLF001
            rest = ", ".join(f'jobs_job."{one}"' for one in columns if one not in own)
            names = rest.replace("jobs_job.", "")
            sql = _ENDED.replace("{rest}", names, 1).replace("{rest}", rest)
            ended = 0 if self.is_still else ENDED * self.jobs
            cursor.execute(sql, [ended, Job.objects.values_list("id").first()])
            cursor.execute("ANALYZE")

    def submit(self, count: int) -> list[Job]:
        """So many more jobs, of one team and pool after the other, which wait."""
        document = {
            "name": "job",
            "command": ["python", "train.py"],
            "elastic": {
                "mode": "hot",
                "min_workers": 1,
                "max_workers": 2 * self.workers,
                "min_interval": "24h" if self.is_still else "1m",
            },
            "batch": {"global_batch_size": {"base": 256, "min": 64, "max": 8192}},
        }
        parsed = parse(document)
        made = []
        for number in range(self._submitted, self._submitted + count):
            team, pool = self._teams[number % TEAMS], self._pools[number % self.pools]
            named = {"name": f"job-{number}"}
            resolved = parsed.resolved(team=team.name, pool=pool.name)
            job = Job(team=team, pool=pool, spec=document | named, resolved_spec=resolved | named)
            job.name, job.mode, job.submitted_by = named["name"], parsed.elastic.mode, "ada"
            made.append(job)
        self._submitted += count
        return Job.objects.bulk_create(made, batch_size=1000)

    def report(self) -> None:
        """Every coordinator tells that its job went on."""
        with connection.cursor() as cursor:
            for statement in _REPORT:
                cursor.execute(statement)

    def churn(self, count: int) -> None:
        """So many jobs end, and as many are submitted."""
        running = Job.objects.filter(state=JobState.RUNNING).order_by("submitted_at", "id")
        for job in running[:count]:
            for process in self._processes_of(job):
                self.host.exit(process, ExitCode.COMPLETED)
        self.submit(count)

    def obey(self) -> None:
        """Every coordinator whose job is being changed does what is wanted."""
        for job in Job.objects.filter(state__in=[JobState.STARTING, JobState.RESCALING]):
            self._begin_generation(job)

    def _processes_of(self, job: Job) -> list[str]:
        live = Worker.objects.filter(job=job).exclude(phase=WorkerPhase.GONE)
        return [*live.values_list("id", flat=True), _coordinator_of(job)]

    def _train(self, jobs: list[Job]) -> None:
        """As if they had been started long ago."""
        now = timezone.now()
        seats = {
            pool.pk: iter([(node, at) for node in pool.nodes.all() for at in range(node.gpus)])
            for pool in self._pools
        }
        workers, claims, assignments, generations, measured = [], [], [], [], []
        for number, job in enumerate(jobs):
            ids = [f"{job.id}-1-{k}" for k in range(1, self.workers + 1)]
            job.state, job.state_since, job.started_at = JobState.RUNNING, now, now
            job.attempt = job.starts = job.revision = job.generation = 1
            job.coordinator_port, job.coordinator_seen_at = 20_000 + number % 40_000, now
            job.progress_at, job.model_bytes = now, self.rng.randint(1, 500) * 1_000_000
            job.total_samples, job.is_measured = 1_000_000_000, True
            job.last_rescaled_at = now if self.is_still else None
            own = list(islice(seats[job.pool_id], self.workers))
            job.coordinator_node = own[0][0].name
            for worker_id, (node, index) in zip(ids, own, strict=True):
                one = Worker(id=worker_id, job=job, attempt=1, node=node, phase="training")
                workers.append(one)
                claims.append(GpuClaim(node=node, gpu_index=index, worker=one))
                self._start(worker_id, ProcessRole.WORKER, job, node)
            self._start(_coordinator_of(job), ProcessRole.COORDINATOR, job, own[0][0])
            shared: dict[str, Any] = {"revision": 1, "attempt": 1, "reason": "fair_share"}
            shared |= {"worker_ids": ids, "global_batch_size": 256, "job": job}
            assignments.append(Assignment(**shared, seats=[]))
            generations.append(Generation(**shared, number=1, workers=self.workers, began_at=now))
            measured += self._measurements(job)
        Job.objects.bulk_update(jobs, _CHANGED, batch_size=100)
        Worker.objects.bulk_create(workers, batch_size=5000)
        GpuClaim.objects.bulk_create(claims, batch_size=5000)
        Assignment.objects.bulk_create(assignments, batch_size=5000)
        Generation.objects.bulk_create(generations, batch_size=5000)
        Measurement.objects.bulk_create(measured, batch_size=5000)

    def _measurements(self, job: Job) -> list[Measurement]:
        exchange = self.rng.uniform(0.0, 0.02)  # seconds per step and further worker
        return [
            Measurement(
                job=job,
                gpu_type=job.pool.gpu_type,
                workers=k,
                nodes=1,
                global_batch_size=256,
                steps=100,
                step_seconds=self.rng.uniform(0.95, 1.05) * (0.5 / k + exchange * (k - 1)),
            )
            for k in sorted({1, 2, self.workers})
        ]

    def _start(self, process_id: str, role: ProcessRole, job: Job, node: Node) -> None:
        labels = Labels(process_id=process_id, job_id=job.id, role=role, attempt=1, fence=1)
        self.host.start(Launch(labels=labels, command=("train",), env={}, node=node.name))

    def _begin_generation(self, job: Job) -> None:
        credential = Credential(term=job.coordinator_term)
        report: dict[str, Any] = {"term": job.coordinator_term, "registered": True}

        def sync(**changes: Any) -> dict[str, Any]:
            parsed = CheckedSyncReport.model_validate({**report, **changes})
            now = timezone.now()
            return dict(record_sync(job_id=job.id, report=parsed, credential=credential, now=now))

        wanted = sync(generation=job.generation)
        phase, number = MemberPhase.TRAINING, wanted["next_generation"]
        began = {"number": number, "revision": wanted["revision"], "cause": "desired"}
        began |= {"workers": wanted["workers"], "began_at": timezone.now().timestamp()}
        began |= {"global_batch_size": wanted["global_batch_size"], "stall_seconds": 0.2}
        training = [{"worker_id": one, "phase": phase} for one in wanted["workers"]]
        sync(generation=number, generations=[began], workers=training)
        left = Worker.objects.filter(job=job, phase=WorkerPhase.LEAVING)
        for worker_id in left.values_list("id", flat=True):
            self.host.exit(worker_id, ExitCode.RELEASED)


_CHANGED: Final = (
    *("state", "state_since", "started_at", "attempt", "starts", "revision", "generation"),
    *("coordinator_port", "coordinator_seen_at", "coordinator_node", "progress_at"),
    *("model_bytes", "total_samples", "is_measured", "last_rescaled_at"),
)


def _coordinator_of(job: Job) -> str:
    return coordinator_id(job.id, term=job.coordinator_term, epoch=job.database_epoch)
