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
    Field,
    StringConstraints,
    ValidationError,
)

from autoscaler.job_network import JobNetwork
from autoscaler.planning.snapshot.vocabulary import Preemptibility
from jobs.errors import Problem, SpecInvalid
from jobs.job_mode import JobMode
from jobs.spec.batch import Batch
from jobs.spec.feasibility import check_batch, check_elastic
from jobs.spec.names import (
    JOB_NAME,
    LABEL,
    MOST_ENTRIES,
    MOST_SECRETS,
    VARIABLE,
    check_command,
    check_environment,
    check_job_name,
    check_labels,
    check_pool_names,
    check_secret_names,
    check_text,
    check_workdir,
)
from jobs.spec.part import SpecPart
from jobs.spec.parts.beginnings import StartFrom
from jobs.spec.parts.checkpoints import Checkpoint
from jobs.spec.parts.code import Code
from jobs.spec.parts.data_uses import DataUses
from jobs.spec.parts.dependencies import DependsOn
from jobs.spec.parts.goals import Deadline, ScaleOn, Utility
from jobs.spec.parts.idle import Idle
from jobs.spec.parts.limits import BudgetGpuHours, MaxDuration
from jobs.spec.parts.logged_metrics import LoggedMetrics
from jobs.spec.parts.notify import Notify
from jobs.spec.parts.used_limits import SpecLimit, limits_in
from jobs.spec.problems import validation
from jobs.spec.quantities import Bytes, Duration, format_size

_HOUR: Final = 3600.0
_WEEK: Final = 7 * 24 * _HOUR
MOST_GPUS: Final = 64  # of one worker
MOST_WORKERS: Final = 10_000
MOST_POOLS: Final = 8  # of one job, guessed: each is planned anew for whom another did not start


class Resources(SpecPart):
    """What one worker gets, and what all of them together may write."""

    gpus_per_worker: int = Field(default=1, ge=1, le=MOST_GPUS)
    cpus: float | None = Field(default=None, ge=0.01, le=1024, allow_inf_nan=False)
    memory: Bytes | None = None
    shm_size: Bytes | None = None  # of /dev/shm, a part of `memory`; None: half of it
    disk_per_job: Bytes | None = None  # None: what the installation gives to each job


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
    mode: Annotated[JobMode, Field(strict=False)] = JobMode.AUTO
    min_interval: Annotated[float, Duration(at_most=_WEEK)] = 0.0
    grace_period: Annotated[float, Duration(at_most=_HOUR)] = 30.0
    registration_timeout: Annotated[float, Duration(at_least=1, at_most=_HOUR)] = 60.0
    # None: an hour for a script that registered; any other may be silent for ever.
    progress_timeout: Annotated[float, Duration(at_least=60, at_most=_WEEK)] | None = None

    def listed_counts(self) -> tuple[int, ...] | None:
        """The counts the job lists; None: min_workers plus multiples of worker_step."""
        return None if self.allowed_workers is None else tuple(sorted(set(self.allowed_workers)))


class Retry(SpecPart):
    """How often a job whose own code fails is started again."""

    max_restarts: int = Field(default=3, ge=0, le=1000)


Word = Annotated[str, StringConstraints(max_length=4096), AfterValidator(check_text)]
SecretName = Annotated[str, StringConstraints(max_length=40)]
PoolName = Annotated[str, StringConstraints(min_length=1, max_length=40)]


def _pattern(names: re.Pattern[str]) -> dict[str, Any]:
    return {"pattern": f"^{names.pattern}$"}


def _named(names: re.Pattern[str]) -> Any:
    """Return what a mapping's description says of its names, beside what it says of its values."""
    return Field(
        json_schema_extra={"propertyNames": _pattern(names), "maxProperties": MOST_ENTRIES}
    )


class JobSpec(SpecPart):
    """One job as its user declares it."""

    name: Annotated[
        str, AfterValidator(check_job_name), Field(json_schema_extra=_pattern(JOB_NAME))
    ]
    team: str = Field(default="", validation_alias=AliasChoices("team", "project"), max_length=40)
    pool: str = Field(default="", max_length=40)  # "": the only one there is, or one of `pools`
    # None: `pool`
    pools: (
        Annotated[
            list[PoolName],
            Field(min_length=1, max_length=MOST_POOLS),
            AfterValidator(check_pool_names),
        ]
        | None
    ) = None
    image: Word | None = None
    command: Annotated[
        list[Word], Field(min_length=1, max_length=1000), AfterValidator(check_command)
    ]
    code: Code | None = None  # None: the image holds it, or the machine itself
    workdir: Annotated[Word, AfterValidator(check_workdir)] | None = None
    env: Annotated[dict[str, Word], AfterValidator(check_environment), _named(VARIABLE)] = Field(
        default_factory=dict
    )
    secrets: Annotated[
        list[SecretName], Field(max_length=MOST_SECRETS), AfterValidator(check_secret_names)
    ] = Field(default_factory=list)
    data: DataUses = Field(default_factory=list)
    # None: what all jobs are given
    network: Annotated[JobNetwork, Field(strict=False)] | None = None
    resources: Resources = Resources()
    elastic: Elastic = Elastic()
    batch: Batch = Field(default_factory=lambda: Batch.model_validate({"global_batch_size": 32}))
    priority: int = Field(default=50, ge=0, le=100)
    preemptibility: Annotated[Preemptibility, Field(strict=False)] = Preemptibility.SEMI_PREEMPTIBLE
    deadline: Deadline | None = None
    utility: Utility | None = None
    max_duration: MaxDuration | None = None  # of holding GPUs; None: as long as it takes
    budget_gpu_hours: BudgetGpuHours | None = None  # None: as many as it takes
    idle: Idle | None = None  # None: its people are told, and nothing else
    retry: Retry = Retry()
    early_end: Literal["failed", "completed"] = "failed"  # of a script whose epochs are not through
    checkpoint: Checkpoint = Checkpoint()
    start_from: StartFrom | None = None
    depends_on: DependsOn = Field(default_factory=list)  # it waits for these to end first
    notify: Notify | None = None  # None: nobody but who is told of all jobs
    metrics: LoggedMetrics = Field(default_factory=list)  # found in the log of a plain script
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    labels: Annotated[dict[str, Word], AfterValidator(check_labels), _named(LABEL)] = Field(
        default_factory=dict
    )

    def resolved(self, *, team: str, pool: str) -> dict[str, Any]:
        """Every field with its value, as JSON; `from_resolved` reads it back.

        Of a job that may be in several pools it says no single one.
        """
        return {**self.model_dump(mode="json"), "team": team, "pool": "" if self.pools else pool}

    @property
    def pool_fields(self) -> dict[str, str]:
        """Return the pools that it names, by the field that names each; see `named_pools`."""
        if self.pools:
            return {f"pools[{number}]": name for number, name in enumerate(self.pools)}
        return {"pool": self.pool} if self.pool else {}

    @property
    def named_pools(self) -> tuple[str, ...]:
        """Return those that it names, in its order; none: it is for the only pool there is."""
        return tuple(self.pool_fields.values())

    def limits_in_use(self, *, held_seconds: float, gpu_seconds: float) -> Iterator[SpecLimit]:
        """Yield its limits of use, of a job that has held GPUs for so long, and so many."""
        return limits_in(
            max_duration=self.max_duration,
            budget_gpu_hours=self.budget_gpu_hours,
            held_seconds=held_seconds,
            gpu_seconds=gpu_seconds,
        )

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
        raise SpecInvalid([NOT_A_MAPPING])
    if "array" in document:
        raise SpecInvalid([_IS_AN_ARRAY])
    if "sweep" in document:
        raise SpecInvalid([_IS_A_SWEEP])
    try:
        spec = JobSpec.model_validate(without_aliases(document))
    except ValidationError as error:
        raise SpecInvalid(validation.from_validation(error, JobSpec)) from error
    found = [
        *check_pools(spec),
        *_check_memory(spec.resources),
        *_check_metrics(spec),
        *_check_idle(spec),
        *check_elastic(spec.elastic),
        *check_batch(spec.elastic, spec.batch.bounds()),
    ]
    if found:
        raise SpecInvalid(found)
    return spec


def check_pools(spec: JobSpec) -> Iterator[Problem]:
    """Find that it says pool and pools: nobody could tell which of both is meant."""
    if spec.pool and spec.pools:
        yield Problem(
            field="pools",
            value=spec.pools,
            problem=f"stands beside pool: {spec.pool}, and only one of both can be meant",
            remedy="Say pool for one pool, or pools for all those in which it may run.",
        )


def _check_memory(resources: Resources) -> Iterator[Problem]:
    shm_size, memory = resources.shm_size, resources.memory
    if shm_size is not None and memory is not None and shm_size > memory:
        yield Problem(
            field="resources.shm_size",
            value=format_size(shm_size),
            problem=f"is more than resources.memory, {format_size(memory)}, of which it is a part",
            remedy=f"Use at most {format_size(memory)}; without it, it is half of that.",
        )


def _check_metrics(spec: JobSpec) -> Iterator[Problem]:
    if spec.metrics and spec.elastic.mode is JobMode.HOT:
        yield Problem(
            field="metrics",
            value=[metric.name for metric in spec.metrics],
            problem="are read from the logs of scripts without the library, and this one has it",
            remedy="Log them with job.log(…), or use another elastic.mode.",
        )


def _check_idle(spec: JobSpec) -> Iterator[Problem]:
    if spec.idle is not None and spec.idle.then == "shrink" and spec.elastic.mode is JobMode.FIXED:
        yield Problem(
            field="idle.then",
            value=spec.idle.then,
            problem="cannot be done to a job that keeps its number of workers (elastic.mode)",
            remedy="Use pause or warn, or another elastic.mode.",
        )


_IS_AN_ARRAY: Final = Problem(
    field="array",
    value=None,
    problem="makes many jobs, and this is the place for one",
    remedy="Send {spec: …} with this spec to POST /api/v1/jobs:bulk, as `concertina submit` does.",
)
_IS_A_SWEEP: Final = Problem(
    field="sweep",
    value=None,
    problem="makes many jobs, one after the other, and this is the place for one",
    remedy="Send this spec to POST /api/v1/sweeps, as `concertina submit` does.",
)
NOT_A_MAPPING = Problem(
    field="",
    value=None,
    problem="is not a mapping of fields",
    remedy="Send an object with at least name, team and command.",
)


def without_aliases(document: Mapping[Any, Any]) -> dict[str, Any]:
    """`max_restarts` on the top level is `retry.max_restarts`."""
    plain = {str(name): value for name, value in document.items()}
    if "max_restarts" in plain and isinstance(plain.get("retry", {}), dict):
        plain["retry"] = {**plain.get("retry", {}), "max_restarts": plain.pop("max_restarts")}
    return plain
