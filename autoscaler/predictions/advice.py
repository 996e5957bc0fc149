"""What would start each job that waits? The planner is asked in the background, not by any tick.

Every remedy costs some plans. The jobs that have waited longest are advised first; in a large
cluster those behind them are told nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from autoscaler.planning.decisions.plan import Plan
from autoscaler.planning.explanations.remedy_search import RemedySearch
from autoscaler.planning.explanations.sentences.remedy_sentences import render_remedy
from autoscaler.planning.snapshot.cluster_state import ClusterState, JobPhase, PlannedJob
from jobs.commands import remedies


def advise(state: ClusterState, *, planner: Callable[[ClusterState], Plan], now: datetime) -> int:
    """Find and keep what would start the waiting jobs; returns how many are advised."""
    ready = tuple(job for job in state.jobs if job.ready_at is None)
    state = replace(state, jobs=ready)  # as the planner sees them: for data no priority helps
    waiting = [job for job in ready if job.phase is JobPhase.WAITING]
    found = _found(waiting, state, planner) if waiting else {}
    remedies.keep(found, found_at=now)
    return len(found)


def _found(
    waiting: list[PlannedJob], state: ClusterState, planner: Callable[[ClusterState], Plan]
) -> dict[str, dict[str, Any]]:
    search = RemedySearch(state=state, planned=planner(state), planner=planner)
    waiting.sort(key=lambda job: job.submitted_at)
    found = [(job, search.remedy_for(job.job_id)) for job in waiting]
    return {
        job.job_id: {**asdict(remedy), "message": render_remedy(remedy, team=job.team)}
        for job, remedy in found
        if remedy is not None
    }
