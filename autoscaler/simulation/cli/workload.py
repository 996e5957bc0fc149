"""Which workload does a command line name? A file or a recipe, and which part of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from autoscaler.simulation.cli.refusal import RequestRefused
from autoscaler.simulation.engine.workload.importers.recording import Recording
from autoscaler.simulation.engine.workload.importers.table import InvalidRecordingError
from autoscaler.simulation.engine.workload.recipes import Recipe, trace_of
from autoscaler.simulation.engine.workload.recordings import RecordingFormat, read_recording
from autoscaler.simulation.engine.workload.selection import Selection
from autoscaler.simulation.engine.workload.trace import InvalidTraceError, Trace

POOL: Final = "default"
MOST_BYTES: Final = 1 << 28  # millions of jobs
LARGE_BYTES: Final = 1 << 24  # some hundred thousand jobs
_HOUR: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadRequest:
    """Where the jobs come from, and which of them are replayed. `file` None: the recipe."""

    file: Path | None
    file_format: RecordingFormat
    recipe: Recipe
    selection: Selection

    def trace(self, *, gpus: int, gpus_per_node: int, tell: Callable[[str], None]) -> Trace:
        """The workload for a cluster of this size; `tell` gets what a reader should know.

        Raises:
            RequestRefused: it cannot be read, or nothing of it is left.
        """
        if self.file is None:
            whole = trace_of(self.recipe, gpus=gpus, seed=self.selection.seed)
        else:
            if _is_large(self.file):
                tell(f"{self.file} is being read; that takes up to a minute.")
            recording = recorded(self.file, self.file_format, gpus_per_node=gpus_per_node)
            tell(f"{self.file}: {recording.summary()}")
            whole = recording.trace
        part = self.selection.of(whole)
        if not part.jobs:
            raise RequestRefused(_nothing_left(whole))
        if len(part.jobs) < len(whole.jobs):
            tell(f"Of them {len(part.jobs):,} are replayed.")
        return part


def recorded(path: Path, recording_format: RecordingFormat, *, gpus_per_node: int) -> Recording:
    """The workload in a file; all jobs come to the one simulated pool.

    Raises:
        RequestRefused: it cannot be read, or is no recording.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise RequestRefused(f"{path} is larger than {MOST_BYTES >> 20} MiB: cut it in parts.")
        text = path.read_text(encoding="utf-8")
        read = read_recording(text, recording_format, name=path.stem, gpus_per_node=gpus_per_node)
    except UnicodeDecodeError as problem:
        raise RequestRefused(
            f"{path} is not text: a recording is a CSV or JSON file in UTF-8."
            " docs/planning/traces.md shows the formats."
        ) from problem
    except OSError as problem:
        raise RequestRefused(
            f"{path} cannot be read: {problem.strerror}. Name a file that you may read."
        ) from problem
    except (InvalidTraceError, InvalidRecordingError) as problem:
        raise RequestRefused(
            f"{path}: {problem}. docs/planning/traces.md shows the formats; --format names one."
        ) from problem
    jobs = tuple(replace(job, pool=POOL) for job in read.trace.jobs)
    return replace(read, trace=replace(read.trace, jobs=jobs))


def _is_large(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > LARGE_BYTES


def _nothing_left(trace: Trace) -> str:
    first, *_, last = sorted([job.submitted_at for job in trace.jobs] * 2)
    return (
        f"No job of {trace.name} is left: its {len(trace.jobs):,} jobs come from hour"
        f" {first / _HOUR:.1f} to hour {last / _HOUR:.1f}. Choose another --from and --until, or a"
        " larger --sample."
    )
