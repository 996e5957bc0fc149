"""A planner that does as told: each job gets what its test wished for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.explanation import (
    Explanation,
    GpuOrigin,
    JobRef,
    Jobs,
    Owed,
    Paused,
    Refused,
    Started,
    TeamShare,
)
from autoscaler.planning.decisions.plan import Action, Decision, Plan
from autoscaler.planning.snapshot.cluster_state import (
    Allocation,
    ClusterState,
    JobPhase,
    PlannedJob,
)
from jobs.models import Job

BATCH = 32


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
        origin=GpuOrigin.RETURNED,
        givers=rival,
    )
