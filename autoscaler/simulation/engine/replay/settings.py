"""On which cluster, at which costs and with which knowledge is a trace replayed?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from autoscaler.planning.policies import BUILT_IN, Catalogue

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedPool, TeamQuota
    from autoscaler.simulation.engine.truth.profiles import Profile


class RescaleCost(Protocol):
    """What starting and changing a job costs it, in seconds.

    While joiners start, the job trains on with its old workers; the new GPUs are held already.
    """

    @property
    def survives_losses(self) -> bool:
        """The workers that are left go on, without losing a step."""
        ...

    def start_seconds(self, profile: Profile) -> float:
        """Return how long GPUs are held before the first step, at a start or after a pause."""
        ...

    def stall_seconds(self, profile: Profile) -> float:
        """Return how long training stands still when workers or batch change."""
        ...

    def joiner_seconds(self, profile: Profile) -> float:
        """Return how long new workers need until the change can be made."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HotRescale:
    """Workers form a new generation without stopping: a short stall, joiners start beside it.

    `stall` None: as long as each profile's own `restart_seconds`.
    """

    stall: float | None = 1.0
    joiner_start: float = 20.0  # guessed: a container, the framework, the first private batch
    first_start: float = 30.0

    @property
    def survives_losses(self) -> bool:
        return True

    def start_seconds(self, profile: Profile) -> float:  # noqa: ARG002 - the same for all
        return self.first_start

    def stall_seconds(self, profile: Profile) -> float:
        return profile.restart_seconds if self.stall is None else self.stall

    def joiner_seconds(self, profile: Profile) -> float:  # noqa: ARG002 - the same for all
        return self.joiner_start


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRestart:
    """Every change stops the job at a checkpoint and starts it again.

    `seconds` None: each profile's own restart cost. `first_start` None: as long as a restart.
    """

    seconds: float | None = None
    first_start: float | None = None

    @property
    def survives_losses(self) -> bool:
        return False

    def start_seconds(self, profile: Profile) -> float:
        return self.stall_seconds(profile) if self.first_start is None else self.first_start

    def stall_seconds(self, profile: Profile) -> float:
        return profile.restart_seconds if self.seconds is None else self.seconds

    def joiner_seconds(self, profile: Profile) -> float:  # noqa: ARG002 - nobody joins a stop
        return 0.0


class Knowledge(StrEnum):
    """What the planner knows of a job's speed."""

    MEASURED = "measured"  # what the job has run with so far, with measurement noise
    EARLIER_RUNS = "earlier_runs"  # also by the team's last run of the same kind of job
    ORACLE = "oracle"  # exact step times at many sizes and batches, from the first second
    NOTHING = "nothing"  # as of scripts that report neither steps nor samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """Mean times between failures; exponential and independent. None: never."""

    worker_mtbf_seconds: float | None = None  # of one worker while it holds GPUs
    node_mtbf_seconds: float | None = None
    node_repair_seconds: float = 3600.0
    checkpoint_seconds: float = 900.0  # a job that loses all workers loses work back to the last


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything a simulation depends on besides its trace. Same trace and settings, same result.

    Plans are made at whole multiples of `tick_seconds`, as long as there is a job; with
    `plans_at_events` also `debounce_seconds` after arrivals, ends and losses. With `tick_growth`
    plans become rarer the further ahead they are: at least this share of the time since the
    beginning lies between two of them, so that their number grows with its logarithm only. There,
    and with `paces_events`, plans follow what happens, a quarter of a tick apart at least.
    """

    pools: tuple[PlannedPool, ...]
    policies: Catalogue = BUILT_IN  # that pools may name
    quotas: tuple[TeamQuota, ...] = ()
    tick_seconds: float = 10.0
    tick_growth: float = 0.0
    plans_at_events: bool = False
    paces_events: bool = False
    debounce_seconds: float = 1.0
    rescale: RescaleCost = HotRescale()
    knowledge: Knowledge = Knowledge.MEASURED
    measurement_noise: float = 0.0  # relative standard deviation, drawn once per configuration
    measured_after_steps: int = 5
    statistical_efficiency: bool = False
    failures: Failures = Failures()
    horizon_seconds: float | None = None
    seed: int = 0
    keeps_history: bool = False  # every allocation of every job
    keeps_usage: bool = True  # how each pool was used over time
    checks_invariants: bool = False  # of every plan; costs about as much as planning

    @property
    def is_paced(self) -> bool:
        """True if plans follow events, but not closely."""
        return self.paces_events or bool(self.tick_growth)
