"""A small world: a pool, teams, jobs, a worker host in memory, and a planner that does as told.

The database, the lifecycle and what coordinators report are the real ones.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import pytest
from cluster import models as cluster
from cluster.in_memory_host import InMemoryHost
from cluster.process_environments import ProcessEnvironments
from cluster.process_host.process_environments import MachineEnvironments
from cluster.worker_host import WorkerHost
from django.db.models.functions import Now
from django.utils import timezone
from storage.data.rules import DataRules
from tenancy.models import Quota, Team

from autoscaler.control_loop.arriving.arrivals import Arrivals
from autoscaler.control_loop.arriving.repositories import CodeArrivals
from autoscaler.control_loop.consistency import contradictions
from autoscaler.control_loop.housekeeping.disk_watch import DiskWatch
from autoscaler.control_loop.housekeeping.gpu_discovery import GpuDiscovery
from autoscaler.control_loop.housekeeping.machine_discovery import MachineDiscovery
from autoscaler.control_loop.housekeeping.usage_watch import UsageWatch
from autoscaler.control_loop.tick import ControlLoop
from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.explanation import (
    Explanation,
    JobRef,
    Jobs,
    Origin,
    Owed,
    Paused,
    Refused,
    Started,
    TeamShare,
)
from autoscaler.planning.decisions.plan import Action, Decision, Plan
from autoscaler.planning.snapshot.cluster_state import Allocation, ClusterState, JobPhase
from autoscaler.planning.snapshot.cluster_state import Job as PlannedJob
from autoscaler.reconciling.limits import LIMITS
from concertina_worker.protocol import WorkerPhase
from jobs.commands.observations.sync import record_sync
from jobs.models import Event, Generation, GpuClaim, Job, Worker
from jobs.reports.job_token import Credential
from jobs.reports.sync_report import SyncReport
from jobs.spec.job_spec import parse

BATCH = 32


class Clock(Protocol):
    """The time of the control loop, to which a test may add."""

    def __call__(self) -> datetime: ...

    def advance(self, seconds: float) -> None: ...


@dataclass
class RunningClock:
    """The real time, and what a test adds to it."""

    added: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.added

    def advance(self, seconds: float) -> None:
        self.added += timedelta(seconds=seconds)


@dataclass
class StandingClock:
    """Goes on as a test says, and else only so far that of two looks one is the later."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class ObedientPlanner:
    """Gives each job the workers a test wished for, all of them at once, and keeps the rest."""

    wishes: dict[str, Mapping[str, int]] = field(default_factory=dict)
    batches: dict[str, int] = field(default_factory=dict)
    reason: JobReason = JobReason.BEST_ALLOCATION  # of jobs that stay as they are
    seen: list[ClusterState] = field(default_factory=list)

    def __call__(self, state: ClusterState) -> Plan:
        self.seen.append(state)
        decisions = tuple(self._decide(job) for job in state.jobs)
        return Plan(
            decisions=decisions,
            explanations={decision.job_id: wished(decision) for decision in decisions},
        )

    def job(self, job: Job) -> PlannedJob:
        """The job as the newest snapshot showed it."""
        return next(one for one in self.seen[-1].jobs if one.job_id == job.id)

    def _decide(self, job: PlannedJob) -> Decision:
        wish = self.wishes.get(job.job_id, {})
        wanted = Allocation(
            workers_by_node=tuple((node, count) for node, count in wish.items() if count),
            global_batch_size=self.batches.get(job.job_id, BATCH),
        )
        action = self._action(job, wanted)
        is_something = action in {Action.START, Action.RESCALE}
        return Decision(
            job_id=job.job_id,
            action=action,
            allocation=wanted if is_something else job.allocation,
            previous=job.allocation,
            reason=JobReason.FAIR_SHARE if is_something else self.reason,
        )

    def _action(self, job: PlannedJob, wanted: Allocation) -> Action:
        if job.phase is JobPhase.WAITING:
            return Action.START if wanted.workers else Action.WAIT
        if not job.can_rescale or job.allocation == wanted or job.job_id not in self.wishes:
            return Action.KEEP
        return Action.RESCALE if wanted.workers else Action.PAUSE


def wished(decision: Decision) -> Explanation:
    """What the planner would say of a wish: who was given how much, by a job of another team."""
    share = TeamShare(
        team="vision",
        held_gpus=0,
        planned_gpus=0,
        guaranteed_gpus=2,
        limit_gpus=None,
        entitled_gpus=2,
    )
    rival = Jobs(named=(JobRef(job_id="other-id", name="other-name", team="language"),))
    if decision.action is Action.WAIT:
        return Refused(
            reason=decision.reason,
            needed_gpus=3,
            gpus_per_worker=1,
            team=replace(share, limit_gpus=2),
            pool="default",
            pool_gpus=4,
            remedy=None,
        )
    if decision.allocation is None:
        return Paused(
            reason=decision.reason,
            gpus_given=1,
            needed_gpus=1,
            gpus_left=0,
            pool="default",
            owed=Owed(
                team="language", missing_gpus=1, guaranteed_gpus=2, entitled_gpus=2, jobs=rival
            ),
            takers=rival,
            reserved=None,
        )
    return Started(
        reason=decision.reason,
        workers=decision.allocation.workers,
        gpus=decision.allocation.workers,
        global_batch_size=decision.allocation.global_batch_size,
        is_measured=True,
        choices=(),
        price=None,
        team=share,
        origin=Origin.RETURNED,
        givers=rival,
    )


@dataclass
class Coordinator:
    """What a job's coordinator would report, at once and as a test wants it."""

    job_id: str
    started_at: float = 0.0

    def sync(
        self,
        phases: Mapping[str, WorkerPhase] | None = None,
        *,
        is_registered: bool = True,
        **fields: Any,
    ) -> Mapping[str, Any]:
        """Report these workers; the answer is what the service wants."""
        newest = Generation.objects.filter(job=self.job_id).order_by("number").last()
        report = {
            "term": Job.objects.get(pk=self.job_id).coordinator_term,
            "registered": is_registered,
            "generation": newest.number if newest else 0,
            "workers": [
                {"worker_id": worker, "phase": phase} for worker, phase in (phases or {}).items()
            ],
            **fields,
        }
        parsed = SyncReport.model_validate(report)
        answer = record_sync(
            job_id=self.job_id,
            report=parsed,
            credential=Credential(term=parsed.term),
            now=timezone.now(),
        )
        return dict(answer)

    def train(self, *, samples: int = 0) -> None:
        """All desired workers are ready, switch, and train in a new generation."""
        desired = self.sync()
        number = desired["next_generation"]
        self.sync(
            dict.fromkeys(desired["workers"], WorkerPhase.TRAINING),
            generation=number,
            generations=[
                {
                    "number": number,
                    "revision": desired["revision"],
                    "cause": "desired",
                    "workers": desired["workers"],
                    "global_batch_size": desired["global_batch_size"],
                    "began_at": timezone.now().timestamp(),
                    "step": number * 10,
                    "stall_seconds": 0.25 if number > 1 else 0.0,
                    "lost_workers": [],
                }
            ],
            metrics=[metric(number, samples)] if samples else [],
        )


def metric(generation: int, samples: int) -> dict[str, Any]:
    """A step that was made just now, with a sample for each step so far."""
    now = timezone.now().timestamp()
    return {"at": now, "generation": generation, "step": samples, "samples": samples}


@dataclass
class World:
    """Everything a test of the control loop touches."""

    host: InMemoryHost
    clock: Clock
    state_dir: Path
    environments: ProcessEnvironments
    planner: ObedientPlanner = field(default_factory=ObedientPlanner)
    gpu_discovery: GpuDiscovery = field(default_factory=GpuDiscovery)
    machine_discovery: MachineDiscovery = field(default_factory=MachineDiscovery)
    usage_watch: UsageWatch = field(default_factory=UsageWatch)
    disk_watch: DiskWatch | None = None
    data_rules: DataRules | None = None
    arrivals: Arrivals = field(default_factory=Arrivals)
    code_arrivals: CodeArrivals = field(default_factory=CodeArrivals)

    def loop(self, *, host: WorkerHost | None = None, holder: str = "test") -> ControlLoop:
        return ControlLoop(
            host=host or self.host,
            planner=self.planner,
            check=lambda _state, _plan: (),
            clock=self.clock,
            holder=holder,
            state_dir=self.state_dir,
            environments=self.environments,
            limits=LIMITS,
            gpu_discovery=self.gpu_discovery,
            machine_discovery=self.machine_discovery,
            usage_watch=self.usage_watch,
            disk_watch=self.disk_watch,
            data_rules=self.data_rules,
            arrivals=self.arrivals,
            code_arrivals=self.code_arrivals,
        )

    def tick(self, times: int = 1) -> None:
        for _ in range(times):
            assert self.loop().run_once()

    def job(self, name: str = "digits", **spec: Any) -> Job:
        """A queued job of team vision."""
        team, pool = Team.objects.get(name="vision"), cluster.Pool.objects.get()
        elastic = {"max_workers": 4, **spec.pop("elastic", {})}
        document = {
            "name": name,
            "team": team.name,
            "command": ["python", "train.py"],
            "elastic": elastic,
            "batch": {"global_batch_size": {"base": BATCH, "min": 8, "max": 256}},
            **spec,
        }
        parsed = parse(document)
        return Job.objects.create(
            team=team,
            pool=pool,
            name=name,
            spec=document,
            resolved_spec=parsed.resolved(team=team.name, pool=pool.name),
            mode=parsed.elastic.mode,
            submitted_by="ada",
        )

    def wish(self, job: Job, workers: int | Mapping[str, int], *, batch: int = BATCH) -> None:
        """From now on the planner gives the job this; a number means on node n1."""
        wish = {"n1": workers} if isinstance(workers, int) else workers
        self.planner.wishes[job.id] = wish
        self.planner.batches[job.id] = batch

    def running(self, job: Job, workers: int | Mapping[str, int]) -> Coordinator:
        """Bring the job to train with this many workers."""
        self.wish(job, workers)
        self.tick()
        coordinator = Coordinator(job.id)
        coordinator.train()
        self.tick()
        assert fresh(job).state == "running"
        return coordinator

    def stays(self, coordinator: Coordinator) -> None:
        """It has nobody left and is heard, and does not end by itself: the loop loses patience."""
        self.clock.advance(LIMITS.coordinator_farewell + 1.0)
        coordinator.sync()
        self.tick(2)

    def running_processes(self) -> Counter[str]:
        """Workers that run on the host, by job name."""
        names = dict(Job.objects.values_list("id", "name"))
        return Counter(
            names[process.labels.job_id]
            for process in self.host.list().processes
            if process.labels.process_id in self.host.running() and process.labels.role == "worker"
        )


def fresh(job: Job) -> Job:
    return Job.objects.get(pk=job.id)


def live_workers(job: Job) -> list[str]:
    rows = Worker.objects.filter(job=job).exclude(phase=Worker.Phase.GONE)
    return list(rows.order_by("created_at", "id").values_list("id", flat=True))


def claims() -> set[tuple[str, int, str]]:
    rows = GpuClaim.objects.values_list("node__name", "gpu_index", "worker_id")
    return set(rows)


def kinds(job: Job) -> list[str]:
    return list(Event.objects.filter(job=job).order_by("id").values_list("kind", flat=True))


def states(job: Job) -> list[str]:
    moves = Event.objects.filter(job=job, kind="state_changed").order_by("id")
    return list(moves.values_list("new_state", flat=True))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The one time there is, the database's too: no limit is passed because a machine is slow."""
    clock = StandingClock()
    monkeypatch.setattr(timezone, "now", clock)
    monkeypatch.setattr(Now, "as_postgresql", lambda *_, **__: ("%s::timestamptz", [clock()]))
    return clock


@pytest.fixture
def make_world(tmp_path: Path, clock: Clock) -> Callable[..., World]:
    def make(nodes: Sequence[int] = (4,), **quotas: int) -> World:
        pool = cluster.Pool.objects.create(name="default")
        for number, gpus in enumerate(nodes, start=1):
            cluster.Node.objects.create(pool=pool, name=f"n{number}", gpus=gpus)
        for name in ("vision", "language"):
            team = Team.objects.create(name=name)
            guaranteed = quotas.get(name, 2)
            Quota.objects.create(team=team, pool=pool, guaranteed_gpus=guaranteed)
        return World(
            host=InMemoryHost(clock=clock),
            clock=clock,
            state_dir=tmp_path,
            environments=MachineEnvironments(
                state_dir=tmp_path,
                service_url="http://127.0.0.1:1",
                interpreter=Path("/opt/concertina/bin/python"),
            ),
        )

    return make


@pytest.fixture
def world(make_world: Callable[..., World], db: None) -> World:
    return make_world()


@pytest.fixture(autouse=True)
def _database_stays_consistent(db: None) -> Iterator[None]:
    yield
    assert contradictions() == []


@pytest.fixture(autouse=True)
def _quiet_redis(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="autoscaler")
