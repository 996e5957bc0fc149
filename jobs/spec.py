"""What may a user ask for? The job spec: every field, its type, its bounds and its default.

A spec is YAML or JSON. `parse` answers with a whole `JobSpec` or with problems that name the
field, its value and the remedy. The stored `resolved_spec` is `JobSpec.resolved()`; `from_resolved`
reads it back, with durations in seconds and sizes in bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    PlainValidator,
    StringConstraints,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from concertina_worker.protocol import LearningRateScaling
from jobs import problems
from jobs.errors import SpecInvalid
from jobs.feasibility import BatchBounds, check_batch, check_elastic
from jobs.goals import Moment, ScaleOn, Utility
from jobs.names import (
    JOB_NAME,
    LABEL,
    MOST_ENTRIES,
    MOST_SECRETS,
    VARIABLE,
    check_command,
    check_environment,
    check_job_name,
    check_labels,
    check_secret_names,
    check_text,
    check_workdir,
)
from jobs.quantities import Bytes, Duration, format_size
from jobs.spec_part import SpecPart

_HOUR: Final = 3600.0
_WEEK: Final = 7 * 24 * _HOUR
LARGEST_BATCH: Final = 10**9
MOST_GPUS: Final = 64  # of one worker
MOST_WORKERS: Final = 10_000


class Resources(SpecPart):
    """What one worker gets."""

    gpus_per_worker: int = Field(default=1, ge=1, le=MOST_GPUS)
    cpus: float | None = Field(default=None, ge=0.01, le=1024, allow_inf_nan=False)
    memory: Bytes | None = None
    shm_size: Bytes | None = None  # of /dev/shm, a part of `memory`; None: half of it


WorkerCount = Annotated[int, Field(ge=1, le=MOST_WORKERS)]


class Elastic(SpecPart):
    """How many workers the job can use, and how it changes between them."""

    min_workers: int = Field(default=1, ge=1, le=MOST_WORKERS)
    max_workers: int = Field(default=1, ge=1, le=MOST_WORKERS)
    allowed_workers: Annotated[list[WorkerCount], Field(min_length=1, max_length=1000)] | None = (
        None
    )
    worker_step: int = Field(default=1, ge=1, le=MOST_WORKERS)
    requested_workers: int | None = Field(default=None, ge=1, le=MOST_WORKERS)
    scale_on: ScaleOn | None = None
    mode: Literal["auto", "hot", "restart", "fixed"] = "auto"
    min_interval: Annotated[float, Duration(at_most=_WEEK)] = 0.0
    grace_period: Annotated[float, Duration(at_most=_HOUR)] = 30.0
    registration_timeout: Annotated[float, Duration(at_least=1, at_most=_HOUR)] = 60.0
    # None: an hour for a script that registered; any other may be silent for ever.
    progress_timeout: Annotated[float, Duration(at_least=60, at_most=_WEEK)] | None = None

    def listed_counts(self) -> tuple[int, ...] | None:
        """The counts the job lists; None: min_workers plus multiples of worker_step."""
        return None if self.allowed_workers is None else tuple(sorted(set(self.allowed_workers)))


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
    lr_scaling: Literal["none", "linear", "sqrt", "adascale", "custom"] = (
        LearningRateScaling.LINEAR.value
    )
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


class Checkpoint(SpecPart):
    """How often state is written, and how many copies are kept."""

    interval: Annotated[float, Duration(at_least=1, at_most=_WEEK)] = 60.0
    keep_last: int = Field(default=3, ge=1, le=1000)


class Retry(SpecPart):
    """How often a job whose own code fails is started again."""

    max_restarts: int = Field(default=3, ge=0, le=1000)


Word = Annotated[str, StringConstraints(max_length=4096), AfterValidator(check_text)]
SecretName = Annotated[str, StringConstraints(max_length=40)]


def _pattern(names: re.Pattern[str]) -> dict[str, Any]:
    return {"pattern": f"^{names.pattern}$"}


def _named(names: re.Pattern[str]) -> Any:
    """What a mapping's description says of its names, beside what it says of its values."""
    return Field(
        json_schema_extra={"propertyNames": _pattern(names), "maxProperties": MOST_ENTRIES}
    )


class JobSpec(SpecPart):
    """One job as its user declares it."""

    name: Annotated[
        str, AfterValidator(check_job_name), Field(json_schema_extra=_pattern(JOB_NAME))
    ]
    team: str = Field(default="", validation_alias=AliasChoices("team", "project"), max_length=40)
    pool: str = Field(default="", max_length=40)  # "": the only one there is
    image: Word | None = None
    command: Annotated[
        list[Word], Field(min_length=1, max_length=1000), AfterValidator(check_command)
    ]
    workdir: Annotated[Word, AfterValidator(check_workdir)] | None = None
    env: Annotated[dict[str, Word], AfterValidator(check_environment), _named(VARIABLE)] = Field(
        default_factory=dict
    )
    secrets: Annotated[
        list[SecretName], Field(max_length=MOST_SECRETS), AfterValidator(check_secret_names)
    ] = Field(default_factory=list)
    resources: Resources = Resources()
    elastic: Elastic = Elastic()
    batch: Batch = Field(default_factory=lambda: Batch.model_validate({"global_batch_size": 32}))
    priority: int = Field(default=50, ge=0, le=100)
    preemptibility: Literal["preemptible", "semi-preemptible", "non-preemptible"] = (
        "semi-preemptible"
    )
    deadline: Moment | None = None
    utility: Utility | None = None
    retry: Retry = Retry()
    early_end: Literal["failed", "completed"] = "failed"  # of a script whose epochs are not through
    checkpoint: Checkpoint = Checkpoint()
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    labels: Annotated[dict[str, Word], AfterValidator(check_labels), _named(LABEL)] = Field(
        default_factory=dict
    )

    def resolved(self, *, team: str, pool: str) -> dict[str, Any]:
        """Every field with its value, as JSON; `from_resolved` reads it back."""
        return {**self.model_dump(mode="json"), "team": team, "pool": pool}

    @classmethod
    def from_resolved(cls, document: object) -> Self:
        """Read what `resolved` made; see `stored_spec` for what an earlier version may have stored.

        Raises:
            ValidationError: it is not what `resolved` makes today.
        """
        return cls.model_validate(document)


def parse(document: object) -> JobSpec:
    """Read a spec as a user sent it.

    Raises:
        SpecInvalid: with every problem found; nothing is silently corrected.
    """
    if not isinstance(document, Mapping):
        raise SpecInvalid([_NOT_A_MAPPING])
    try:
        spec = JobSpec.model_validate(_without_aliases(document))
    except ValidationError as error:
        raise SpecInvalid(problems.from_validation(error, JobSpec)) from error
    found = [
        *_check_memory(spec.resources),
        *check_elastic(spec.elastic),
        *check_batch(spec.elastic, spec.batch.bounds()),
    ]
    if found:
        raise SpecInvalid(found)
    return spec


def _check_memory(resources: Resources) -> Iterator[problems.Problem]:
    shm_size, memory = resources.shm_size, resources.memory
    if shm_size is not None and memory is not None and shm_size > memory:
        yield problems.Problem(
            field="resources.shm_size",
            value=format_size(shm_size),
            problem=f"is more than resources.memory, {format_size(memory)}, of which it is a part",
            remedy=f"Use at most {format_size(memory)}; without it, it is half of that.",
        )


_NOT_A_MAPPING = problems.Problem(
    field="",
    value=None,
    problem="is not a mapping of fields",
    remedy="Send an object with at least name, team and command.",
)


def _without_aliases(document: Mapping[Any, Any]) -> dict[str, Any]:
    """`max_restarts` on the top level is `retry.max_restarts`."""
    plain = {str(name): value for name, value in document.items()}
    if "max_restarts" in plain and isinstance(plain.get("retry", {}), dict):
        plain["retry"] = {**plain.get("retry", {}), "max_restarts": plain.pop("max_restarts")}
    return plain
