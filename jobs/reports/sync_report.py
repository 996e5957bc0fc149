"""What may a coordinator report? The documents of `concertina_worker.protocol`, with bounds.

A report comes from a job's own processes and is believed only as far as it makes sense. An entry
of a list that does not is dropped, a list that is too long loses its oldest entries, and what is
not known to make sense counts as not reported: a coordinator repeats a refused report, and one
that can never be accepted would be the job's last. Only a report that is wrong as a whole is
refused.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, OnErrorOmit

from concertina_worker.protocol import (
    MOST_GENERATIONS,
    MOST_MEASUREMENTS,
    MOST_METRICS,
    MOST_WARNINGS,
    MOST_WORKERS,
    GenerationCause,
    MemberPhase,
)
from jobs.reports.fields import (
    Amount,
    BatchLimit,
    Count,
    Known,
    KnownCount,
    LargeCount,
    Positive,
    ReportedTime,
    Sentence,
    SignedAmount,
    Text,
    Values,
    WorkerId,
    newest,
)


class _Report(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


WorkerIds = Annotated[list[WorkerId], Field(max_length=MOST_WORKERS)]


class GenerationEntry(_Report):
    number: Annotated[int, Field(ge=1, le=2**31 - 1)]
    revision: Count
    cause: GenerationCause
    workers: WorkerIds
    global_batch_size: Count
    began_at: ReportedTime
    step: LargeCount = 0
    stall_seconds: Amount = 0.0
    transfer_seconds: Amount = 0.0
    lost_steps: LargeCount = 0
    lost_work_seconds: Amount = 0.0
    lost_workers: WorkerIds = Field(default_factory=list)


class MetricEntry(_Report):
    at: ReportedTime
    generation: Count
    step: LargeCount
    epoch: Amount = 0.0
    samples: LargeCount = 0
    samples_per_second: Amount = 0.0
    step_seconds: Amount = 0.0
    compute_seconds: Amount = 0.0
    communication_seconds: Amount = 0.0
    learning_rate: SignedAmount = 0.0
    values: Values = Field(default_factory=dict)


class MeasurementEntry(_Report):
    workers: Annotated[int, Field(ge=1, le=MOST_WORKERS)]
    global_batch_size: Annotated[int, Field(ge=1, le=2**31 - 1)]
    steps: Annotated[int, Field(ge=1, le=2**31 - 1)]
    step_seconds: Annotated[float, Field(ge=1e-9, le=1e9, allow_inf_nan=False)]


class WorkerEntry(_Report):
    worker_id: WorkerId
    phase: MemberPhase
    error: Text | None = None
    given_up: bool = False
    compute_seconds: Known = None
    samples_per_second: Known = None
    relative_speed: Known = None
    is_straggler: bool | None = None
    gpu_utilisation: Known = None
    gpu_memory_bytes: KnownCount = None
    gpu_memory_total_bytes: KnownCount = None


class CheckedSyncReport(_Report):
    """A report whose every part can be stored as it is."""

    term: Count = 0
    registered: bool = False
    model_bytes: KnownCount = None
    noise_scale: Positive = None
    batch_limit: BatchLimit = None
    total_samples: KnownCount = None
    revision: Count = 0
    generation: Count = 0
    checkpoint_step: KnownCount = None
    process_group: bool = False
    finished: bool = False  # its last epoch is over; what ended is what the worker host saw end
    warnings: Annotated[list[OnErrorOmit[Sentence]], newest(MOST_WARNINGS)] = Field(
        default_factory=list
    )
    workers: Annotated[list[OnErrorOmit[WorkerEntry]], newest(MOST_WORKERS)] = Field(
        default_factory=list
    )
    generations: Annotated[list[OnErrorOmit[GenerationEntry]], newest(MOST_GENERATIONS)] = Field(
        default_factory=list
    )
    metrics: Annotated[list[OnErrorOmit[MetricEntry]], newest(MOST_METRICS)] = Field(
        default_factory=list
    )
    measurements: Annotated[list[OnErrorOmit[MeasurementEntry]], newest(MOST_MEASUREMENTS)] = Field(
        default_factory=list
    )
