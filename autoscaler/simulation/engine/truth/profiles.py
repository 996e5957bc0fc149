"""How fast does a kind of job truly train? The simulator's truth, which the planner must find out.

Work is counted in *samples at the base batch*. A step of batch b advances it by

    b * EFF(b),    EFF(b) = (phi + b_base) / (phi + b)

where phi is the gradient noise scale in samples (Pollux, OSDI 2021; *An Empirical Model of
Large-Batch Training*, 2018): far above phi a larger batch brings hardly any progress. phi grows
during training, so a profile lists it over the progress. Without a list every sample counts.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from autoscaler.planning.speed.throughput import Configurations

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.job_terms import BatchRange
    from autoscaler.planning.speed.throughput import ThroughputModel


SHORTEST_STEP: Final = 1e-6  # seconds of one worker at the base batch
LONGEST_STEP: Final = 1e6
LARGEST_OVERLAP: Final = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One kind of training job.

    `batch.base` is the base batch of all efficiencies, whatever range a job allows itself.
    `noise` holds (fraction of the work, phi) with rising fractions from 0.0: phi from that
    fraction on. `samples` is the work of a usual run, for generators. `restart_seconds` is what
    stopping at a checkpoint and starting again costs.
    """

    name: str
    model: ThroughputModel
    batch: BatchRange
    samples: float
    noise: tuple[tuple[float, float], ...] = ()
    model_bytes: int = 0
    restart_seconds: float = 30.0

    def noise_at(self, fraction: float) -> float | None:
        """The noise scale after this fraction of the work; None for a profile without noise."""
        passed = [phi for start, phi in self.noise if start <= fraction]
        return passed[-1] if passed else None


def efficiency(phi: float, *, base: int, batch: int) -> float:
    """EFF(b): the progress of one sample, relative to one at the base batch."""
    return (phi + base) / (phi + batch)


def step_seconds(
    profile: Profile, rules: BatchRange, *, workers: int, crosses_nodes: bool, batch: int
) -> float:
    """The true time of one step."""
    return _step_seconds(
        profile.model, rules, workers=workers, crosses_nodes=crosses_nodes, batch=batch
    )


@lru_cache(maxsize=1 << 16)
def _step_seconds(
    model: ThroughputModel, rules: BatchRange, *, workers: int, crosses_nodes: bool, batch: int
) -> float:
    at = Configurations.of(
        workers=workers,
        crosses_nodes=crosses_nodes,
        global_batch=batch,
        micro_batch=rules.max_per_gpu,
    )
    return float(model.step_seconds(at))


def problems_of(profile: Profile) -> tuple[str, ...]:
    """Return what is wrong with a kind of job, in sentences; empty when nothing is."""
    *seconds, overlap = astuple(profile.model)
    base = profile.batch.base
    alone = profile.model.compute_fixed + profile.model.compute_per_sample * base
    rules = (
        (
            all(0 <= number <= LONGEST_STEP for number in seconds),
            f"the times of its model must be 0 to {LONGEST_STEP:g} s",
        ),
        (
            1 <= overlap <= LARGEST_OVERLAP,
            f"the overlap of its model must be 1 to {LARGEST_OVERLAP:g}",
        ),
        (
            SHORTEST_STEP <= alone <= LONGEST_STEP,
            f"a step of one worker must take {SHORTEST_STEP:g} to {LONGEST_STEP:g} s",
        ),
        (
            _rises_from_zero(profile.noise),
            "noise needs pairs of a fraction of the work, rising from 0, and a scale of at least 0",
        ),
        (
            0 <= profile.restart_seconds <= LONGEST_STEP,
            f"restart_seconds must be 0 to {LONGEST_STEP:g}",
        ),
        (0 <= profile.model_bytes < 1 << 63, "model_bytes must be a size"),
    )
    return tuple(sentence for holds, sentence in rules if not holds)


def _rises_from_zero(noise: tuple[tuple[float, float], ...]) -> bool:
    starts = [start for start, _ in noise]
    return not noise or (
        starts[0] == 0
        and starts[-1] <= 1
        and all(earlier < later for earlier, later in pairwise(starts))
        and all(0 <= phi < float("inf") for _, phi in noise)
    )
