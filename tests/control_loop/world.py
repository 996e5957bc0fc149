"""A small world: a pool, teams, jobs, a worker host in memory, and a planner that does as told.

The database, the lifecycle and what coordinators report are the real ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster import models as cluster
from cluster.in_memory_host import InMemoryHost
from cluster.process_environments import ProcessEnvironments
from cluster.worker_host import WorkerHost
from storage.data.rules import DataRules
from tenancy.models import Team

from autoscaler.control_loop.arriving.arrivals import DataArrivals
from autoscaler.control_loop.arriving.repositories import CodeArrivals
from autoscaler.control_loop.housekeeping.disk_watch import DiskWatch
from autoscaler.control_loop.housekeeping.gpu_discovery import GpuDiscovery
from autoscaler.control_loop.housekeeping.machine_discovery import MachineDiscovery
from autoscaler.control_loop.housekeeping.usage_watch import UsageWatch
from autoscaler.control_loop.tick import ControlLoop
from autoscaler.reconciling.limits import LIMITS
from jobs.models import Event, GpuClaim, Job, Worker
from jobs.spec.job_spec import parse
from jobs.worker_phase import WorkerPhase
from tests.control_loop.clocks import Clock
from tests.control_loop.coordinator import Coordinator
from tests.control_loop.obedient_planner import BATCH, ObedientPlanner


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
    arrivals: DataArrivals = field(default_factory=DataArrivals)
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
    rows = Worker.objects.filter(job=job).exclude(phase=WorkerPhase.GONE)
    return list(rows.order_by("created_at", "id").values_list("id", flat=True))


def claims() -> set[tuple[str, int, str]]:
    rows = GpuClaim.objects.values_list("node__name", "gpu_index", "worker_id")
    return set(rows)


def kinds(job: Job) -> list[str]:
    return list(Event.objects.filter(job=job).order_by("id").values_list("kind", flat=True))


def states(job: Job) -> list[str]:
    moves = Event.objects.filter(job=job, kind="state_changed").order_by("id")
    return list(moves.values_list("new_state", flat=True))
