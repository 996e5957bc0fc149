"""What may a coordinator report? The documents of `concertina_worker.protocol`, with bounds.

A report comes from a job's own processes and is believed only as far as it makes sense. An entry
of a list that does not is dropped, because a coordinator repeats a refused report for ever; only
a report that is wrong as a whole is refused.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    OnErrorOmit,
)

from concertina_worker.protocol import GenerationCause, WorkerPhase

MOST_VALUES: Final = 64  # metrics a script may log; guessed, bounds the size of a row
_LONGEST_TEXT: Final = 2000
_MOST: Final = 1e15  # of anything that is measured
_LARGEST_BATCH: Final = 10**9
_LATEST: Final = 32_503_680_000  # the year 3000


def _finite(value: object) -> object:
    """NaN and infinity cannot be stored; a number that must be there becomes 0."""
    return 0.0 if isinstance(value, float) and not math.isfinite(value) else value


def _storable(values: object) -> object:
    """Keep the first metrics with sensible names; NaN and infinity become null."""
    if not isinstance(values, dict):
        return {}
    kept = [(_clean(str(name), 80), _as_number(value)) for name, value in values.items()]
    return dict(kept[:MOST_VALUES])


def _as_number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None


def _clean(text: str, longest: int = _LONGEST_TEXT) -> str:
    """PostgreSQL stores neither null characters nor lone surrogates."""
    return text.replace("\0", "").encode(errors="replace").decode()[:longest]


def _moment(seconds: object) -> datetime:
    if isinstance(seconds, int | float) and 0 <= seconds <= _LATEST:
        return datetime.fromtimestamp(seconds, tz=UTC)
    raise ValueError("is not a moment in Unix seconds")


Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
LargeCount = Annotated[int, Field(ge=0, le=2**63 - 1)]
Amount = Annotated[float, BeforeValidator(_finite), Field(ge=0, le=1e18)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
WorkerId = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9._-]+$")]


def _positive(value: object) -> float | None:
    """What makes no sense as a number above 0 is as good as not reported."""
    number = _as_number(value)
    return number if number is not None and 0 < number <= _MOST else None


def _known(value: object) -> float | None:
    """The same, where 0 makes sense."""
    number = _as_number(value)
    return number if number is not None and 0 <= number <= _MOST else None


NoiseScale = Annotated[float | None, BeforeValidator(_positive)]
Known = Annotated[float | None, BeforeValidator(_known)]
KnownCount = Annotated[int | None, BeforeValidator(lambda value: _whole(_known(value)))]


def _batch(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 1 <= value <= _LARGEST_BATCH else None


BatchLimit = Annotated[int | None, BeforeValidator(_batch)]


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


class _Report(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class GenerationEntry(_Report):
    number: Annotated[int, Field(ge=1, le=2**31 - 1)]
    revision: Count
    cause: GenerationCause
    workers: Annotated[list[WorkerId], Field(max_length=10_000)]
    global_batch_size: Count
    began_at: Moment
    step: LargeCount = 0
    stall_seconds: Amount = 0.0
    transfer_seconds: Amount = 0.0
    lost_steps: LargeCount = 0
    lost_work_seconds: Amount = 0.0
    lost_workers: Annotated[list[WorkerId], Field(max_length=10_000)] = Field(default_factory=list)


class MetricEntry(_Report):
    at: Moment
    generation: Count
    step: LargeCount
    epoch: Amount = 0.0
    samples: LargeCount = 0
    samples_per_second: Amount = 0.0
    step_seconds: Amount = 0.0
    compute_seconds: Amount = 0.0
    communication_seconds: Amount = 0.0
    learning_rate: Annotated[float, BeforeValidator(_finite)] = 0.0
    values: Annotated[dict[str, float | None], BeforeValidator(_storable)] = Field(
        default_factory=dict
    )


class MeasurementEntry(_Report):
    workers: Annotated[int, Field(ge=1, le=10_000)]
    global_batch_size: Annotated[int, Field(ge=1, le=2**31 - 1)]
    steps: Annotated[int, Field(ge=1, le=2**31 - 1)]
    step_seconds: Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class WorkerEntry(_Report):
    worker_id: WorkerId
    phase: WorkerPhase
    error: Annotated[str, AfterValidator(_clean)] | None = None
    given_up: bool = False
    compute_seconds: Known = None
    samples_per_second: Known = None
    relative_speed: Known = None
    is_straggler: bool | None = None
    gpu_utilisation: Known = None
    gpu_memory_bytes: KnownCount = None
    gpu_memory_total_bytes: KnownCount = None


class SyncReport(_Report):
    """A report whose every part can be stored as it is."""

    term: Count = 0
    registered: bool = False
    model_bytes: LargeCount = 0
    noise_scale: NoiseScale = None
    batch_limit: BatchLimit = None
    total_samples: LargeCount | None = None
    revision: Count = 0
    generation: Count = 0
    checkpoint_step: LargeCount | None = None
    finished: bool = False  # for people only: what ended is what the worker host saw end
    workers: list[OnErrorOmit[WorkerEntry]] = Field(default_factory=list, max_length=10_000)
    generations: list[OnErrorOmit[GenerationEntry]] = Field(default_factory=list)
    metrics: list[OnErrorOmit[MetricEntry]] = Field(default_factory=list)
    measurements: list[OnErrorOmit[MeasurementEntry]] = Field(
        default_factory=list, max_length=10_000
    )
