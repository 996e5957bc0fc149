"""Which batch may a user ask for? The `batch` of a job spec: its fields, bounds and defaults."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, PlainValidator
from pydantic_core import PydanticCustomError

from concertina_worker.protocol import LearningRateScaling
from jobs.spec.feasibility import BatchBounds
from jobs.spec.part import SpecPart

LARGEST_BATCH: Final = 10**9


def _without_default(schema: dict[str, Any]) -> None:
    del schema["default"]


class GlobalBatch(SpecPart):
    """Allowed global batch sizes: from min to max, multiples of `multiple_of`."""

    base: int = Field(ge=1, le=LARGEST_BATCH)  # the one the script's learning rate was chosen for
    # Not given, these two are as `base`: see `_expand`.
    min: int = Field(default=0, ge=1, le=LARGEST_BATCH, json_schema_extra=_without_default)
    max: int = Field(default=0, ge=1, le=LARGEST_BATCH, json_schema_extra=_without_default)
    multiple_of: int = Field(default=1, ge=1, le=LARGEST_BATCH)


_BatchSize = Annotated[int, Field(ge=1, le=LARGEST_BATCH)]


def _check_limit(value: object) -> int | Literal["auto"]:
    if value == "auto":
        return "auto"
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError("is not a limit | Use auto or a whole number from 1.")
    if value > LARGEST_BATCH:
        raise PydanticCustomError("less_than_equal", "is too large", {"le": LARGEST_BATCH})
    return value


class PerGpuBatch(SpecPart):
    """The memory limit of one worker's share."""

    max: Annotated[
        int | Literal["auto"],
        PlainValidator(_check_limit, json_schema_input_type=_BatchSize | Literal["auto"]),
    ] = "auto"


def _expand(value: object) -> object:
    """Accept a bare number for a fixed batch, and fill in what follows from `base`."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = {"base": value}
    if not isinstance(value, dict | GlobalBatch):
        raise ValueError(  # noqa: TRY004 - pydantic collects these
            "is neither a whole number nor a range"
            " | Write a number such as 64, without quotes, or a mapping with base, min and max."
        )
    if isinstance(value, dict) and isinstance(value.get("base"), int):
        return {"min": value["base"], "max": value["base"], **value}
    return value


class Batch(SpecPart):
    """The global batch, and how the learning rate follows it."""

    global_batch_size: Annotated[
        GlobalBatch, BeforeValidator(_expand, json_schema_input_type=_BatchSize | GlobalBatch)
    ]
    per_gpu_batch_size: PerGpuBatch = PerGpuBatch()
    gradient_accumulation: bool = True
    lr_scaling: Annotated[LearningRateScaling, Field(strict=False)] = LearningRateScaling.LINEAR
    lr_warmup_steps: int = Field(default=200, ge=0, le=10**6)

    @property
    def max_per_worker(self) -> int | None:
        """Samples of one worker's share before accumulation; None: not declared."""
        limit = self.per_gpu_batch_size.max
        return None if limit == "auto" else limit

    def bounds(self) -> BatchBounds:
        size = self.global_batch_size
        return BatchBounds(
            base=size.base,
            minimum=size.min,
            maximum=size.max,
            multiple_of=size.multiple_of,
            max_per_worker=self.max_per_worker,
            has_accumulation=self.gradient_accumulation,
        )
