"""Which cluster does a command line name, and which policies? Its options, checked, as values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from autoscaler.installed_policies import installed_policies
from autoscaler.planning.policies import PolicyRefused
from autoscaler.planning.snapshot.cluster_state import PlannedNode, PlannedPool
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from autoscaler.simulation.cli.refusal import RequestRefused
from autoscaler.simulation.cli.workload import POOL
from autoscaler.simulation.engine.comparison.candidates import Candidate, candidates
from autoscaler.simulation.engine.comparison.feasibility import EndlessJobs, endless_in
from autoscaler.simulation.engine.replay.settings import (
    CheckpointRestart,
    Failures,
    HotRescale,
    Knowledge,
    Settings,
)
from autoscaler.simulation.engine.workload.trace import Trace

_HOUR: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRequest:
    """The cluster and its costs, as asked for.

    `stall_seconds` None: jobs restart to change. `node_failure_hours` None: nodes never fail.
    """

    gpus: int
    gpus_per_node: int
    tick_seconds: float
    stall_seconds: float | None
    node_failure_hours: float | None
    knowledge: Knowledge
    admission: AdmissionVariant
    horizon_hours: float | None
    seed: int
    keeps_history: bool

    def settings(self) -> Settings:
        rescale = (
            CheckpointRestart()
            if self.stall_seconds is None
            else HotRescale(stall=self.stall_seconds)
        )
        return Settings(
            pools=(PlannedPool(name=POOL, nodes=self._nodes(), admission=self.admission),),
            policies=installed_policies(),
            tick_seconds=self.tick_seconds,
            rescale=rescale,
            knowledge=self.knowledge,
            failures=Failures(node_mtbf_seconds=_seconds(self.node_failure_hours)),
            horizon_seconds=_seconds(self.horizon_hours),
            seed=self.seed,
            statistical_efficiency=True,
            keeps_history=self.keeps_history,
        )

    def _nodes(self) -> tuple[PlannedNode, ...]:
        """Full nodes, and one with the rest."""
        whole, rest = divmod(self.gpus, self.gpus_per_node)
        sizes = [self.gpus_per_node] * whole + [rest] * bool(rest)
        return tuple(PlannedNode(name=f"n{i:04}", gpus=size) for i, size in enumerate(sizes))


def _seconds(hours: float | None) -> float | None:
    return None if hours is None else hours * _HOUR


def check_policies(policies: Sequence[str]) -> None:
    """Better before the workload is read.

    Raises:
        RequestRefused: there is no such policy, or one is named twice.
    """
    for policy in policies:
        try:
            installed_policies().policy(policy)
        except PolicyRefused as problem:
            raise RequestRefused(str(problem)) from problem
    if len(set(policies)) < len(policies):
        raise RequestRefused("The same policy is named twice: name each once.")


def candidates_of(cluster: ClusterRequest, policies: Sequence[str]) -> tuple[Candidate, ...]:
    """The cluster under each policy."""
    return candidates(cluster.settings(), policies)


def check_all_can_end(trace: Trace, candidates: Sequence[Candidate]) -> None:
    """Better now than never.

    Raises:
        RequestRefused: names a job that cannot, and why.
    """
    for candidate in candidates:
        if endless := endless_in(trace, candidate.settings):
            raise RequestRefused(_of_endless(endless, candidate.label))


def _of_endless(endless: EndlessJobs, label: str) -> str:
    more = f" So it is with {endless.jobs - 1:,} more." if endless.jobs > 1 else ""
    remedy = (
        "Correct it, or stop the simulation after --horizon hours."
        if endless.takes_too_long
        else "Give the cluster more --gpus or larger nodes, correct the job, or let --admission"
        " dropping drop what does not fit."
    )
    return f"Job {endless.job} can never end under {label}. {endless.why}{more} {remedy}"


def check_report(path: Path | None) -> None:
    """Better now than after an hour of simulating.

    Raises:
        RequestRefused: no report could be written there.
    """
    if path is None:
        return
    if path.is_dir():
        raise RequestRefused(f"{path} is a folder: name a file for the report.")
    if not path.parent.is_dir():
        raise RequestRefused(f"There is no folder {path.parent} for the report: create it first.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise RequestRefused(f"The report may not be written to {path}: name another file.")
