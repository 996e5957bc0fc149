"""What does a command line ask to simulate? Its options, checked, as values of the simulation."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from autoscaler.installed_policies import installed_policies
from autoscaler.planning.policies import PolicyRefused
from autoscaler.planning.snapshot.cluster_state import Node, Pool
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from autoscaler.simulation.engine.comparison.candidates import Candidate, candidates
from autoscaler.simulation.engine.replay.settings import (
    CheckpointRestart,
    Failures,
    HotRescale,
    Settings,
)
from autoscaler.simulation.engine.workload.importers.table import InvalidRecordingError
from autoscaler.simulation.engine.workload.recipes import Recipe, trace_of
from autoscaler.simulation.engine.workload.recordings import RecordingFormat, read_recording
from autoscaler.simulation.engine.workload.trace import InvalidTraceError, Trace

POOL: Final = "default"
MOST_BYTES: Final = 1 << 28  # millions of jobs
_HOUR: Final = 3600.0


class RequestRefused(Exception):
    """The command line asks for something that cannot be simulated; the message says what to do."""


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
            pools=(Pool(name=POOL, nodes=self._nodes(), admission=self.admission),),
            policies=installed_policies(),
            tick_seconds=self.tick_seconds,
            rescale=rescale,
            failures=Failures(node_mtbf_seconds=_seconds(self.node_failure_hours)),
            horizon_seconds=_seconds(self.horizon_hours),
            seed=self.seed,
            statistical_efficiency=True,
            keeps_history=self.keeps_history,
        )

    def _nodes(self) -> tuple[Node, ...]:
        """Full nodes, and one with the rest."""
        whole, rest = divmod(self.gpus, self.gpus_per_node)
        sizes = [self.gpus_per_node] * whole + [rest] * bool(rest)
        return tuple(Node(name=f"n{i:04}", gpus=size) for i, size in enumerate(sizes))


def _seconds(hours: float | None) -> float | None:
    return None if hours is None else hours * _HOUR


def candidates_of(cluster: ClusterRequest, policies: Sequence[str]) -> tuple[Candidate, ...]:
    """The cluster under each policy.

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
    return candidates(cluster.settings(), policies)


def recorded(path: Path, recording_format: RecordingFormat, *, gpus_per_node: int) -> Trace:
    """The workload in a file; all jobs come to the one simulated pool.

    Raises:
        RequestRefused: it cannot be read, or is no recording.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise RequestRefused(f"{path} is larger than {MOST_BYTES >> 20} MiB: cut it in parts.")
        text = path.read_text(encoding="utf-8")
        trace = read_recording(text, recording_format, name=path.stem, gpus_per_node=gpus_per_node)
    except UnicodeDecodeError as problem:
        raise RequestRefused(
            f"{path} is not text: a recording is a CSV or JSON file in UTF-8. docs/traces.md shows"
            " the formats."
        ) from problem
    except OSError as problem:
        raise RequestRefused(
            f"{path} cannot be read: {problem.strerror}. Name a file that you may read."
        ) from problem
    except (InvalidTraceError, InvalidRecordingError) as problem:
        raise RequestRefused(
            f"{path}: {problem}. docs/traces.md shows the formats; --format names one."
        ) from problem
    return replace(trace, jobs=tuple(replace(job, pool=POOL) for job in trace.jobs))


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


def generated(recipe: Recipe, cluster: ClusterRequest) -> Trace:
    return trace_of(recipe, gpus=cluster.gpus, seed=cluster.seed)
