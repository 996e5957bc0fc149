"""What can happen to a coordinator? Each kind of event is one value."""

from __future__ import annotations

from dataclasses import dataclass

from concertina_worker.coordinator.stragglers import WorkerThroughput
from concertina_worker.plan import GenerationPlan
from concertina_worker.protocol import (
    Desired,
    GpuUse,
    MeasurementReport,
    MemberPhase,
    MetricReport,
)
from concertina_worker.wire import ScriptPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConnected:
    """A worker said hello: for the first time, or again after either side lost the connection."""

    worker: str
    attempt: int
    phase: MemberPhase
    plan: GenerationPlan | None  # the generation it trains in
    failed_in: int  # the generation whose collective broke, if it waits for another
    model_bytes: int
    is_sharded: bool = False  # each worker holds a part of its model


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerDisconnected:
    """Its connection closed, or its heartbeat stopped."""

    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartBeat:
    """A worker lives; its main thread has been at this place for so long."""

    worker: str
    place: ScriptPlace
    seconds: float
    steps: int  # in this generation


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerReady:
    worker: str
    model_bytes: int
    is_sharded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOpened:
    """Rank 0 of a generation opened the store through which its members find each other."""

    worker: str
    generation: int
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFailed:
    worker: str
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSwitched:
    """A worker has left the generation before: to train in this one, or to leave."""

    worker: str
    generation: int
    step: int
    lost_steps: int = 0  # made before that are to be made again, as far as the members know


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettled:
    """A member has made its first steps in a generation."""

    worker: str
    generation: int
    stall_seconds: float
    transfer_seconds: float  # for which it sent or received state, most of it while computing


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveFailed:
    worker: str
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressMade:
    worker: str
    metric: MetricReport
    measurement: MeasurementReport | None
    noise_scale: float | None = None  # in samples


@dataclass(frozen=True, slots=True, kw_only=True)
class RanOutOfMemory:
    worker: str
    samples: int  # of the micro-batch that did not fit


@dataclass(frozen=True, slots=True, kw_only=True)
class PaceTold:
    """How fast a worker computed its own shares since it last told."""

    worker: str
    generation: int
    pace: WorkerThroughput


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthTold:
    worker: str
    total_samples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointWritten:
    worker: str
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLeaving:
    """It was asked to end and would like to be replanned first."""

    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFinished:
    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodbyeSaid:
    """A worker is about to end, and has told all."""

    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRaised:
    worker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningGiven:
    """Something in the script is to be looked at; its training goes on."""

    worker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMeasured:
    """The newest reading of a worker's GPUs."""

    worker: str
    use: GpuUse


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredArrived:
    """The service answered a sync."""

    desired: Desired


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePassed:
    """Nothing happened for a moment."""


Event = (
    WorkerConnected
    | WorkerDisconnected
    | HeartBeat
    | WorkerReady
    | StoreOpened
    | BuildFailed
    | WorkerSwitched
    | WorkerSettled
    | CollectiveFailed
    | ProgressMade
    | PaceTold
    | RanOutOfMemory
    | LengthTold
    | CheckpointWritten
    | WorkerLeaving
    | WorkerFinished
    | ErrorRaised
    | WarningGiven
    | GoodbyeSaid
    | GpuMeasured
    | DesiredArrived
    | TimePassed
)
