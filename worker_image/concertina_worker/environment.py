"""What was this process started with? The one place that reads environment variables.

Standard library only. Without `CONCERTINA_COORDINATOR` a worker runs alone, outside any platform.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from concertina_worker.protocol import (
    COORDINATOR_LOST_SECONDS,
    BatchRules,
    Env,
    GpuExchange,
    LearningRateScaling,
)

CUDA_GPUS: Final = "CUDA_VISIBLE_DEVICES"
FIXED_SIZE_VARIABLES: Final = (
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RUN_ID",
    "TORCHELASTIC_RESTART_COUNT",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorEnvironment:
    """What a coordinator was started with."""

    job_id: str
    token: str  # that workers say hello with
    service_token: str  # that syncs are sent with
    host: str  # to listen on
    port: int
    service_url: str
    state_dir: Path
    term: int
    start: int  # of the job, as `Env.START` counts them
    rendezvous: tuple[str, int] | None  # where workers that do not register would meet
    has_gate: bool = False  # through which its workers reach who is listed

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> CoordinatorEnvironment:
        host, port = _address(_required(environ, Env.COORDINATOR))
        return cls(
            job_id=_required(environ, Env.JOB_ID),
            token=_required(environ, Env.TOKEN),
            service_token=environ.get(Env.SERVICE_TOKEN) or _required(environ, Env.TOKEN),
            host=environ.get(Env.LISTEN_ON) or host,
            port=port,
            service_url=_required(environ, Env.SERVICE_URL),
            state_dir=Path(_required(environ, Env.STATE_DIR)),
            term=_whole(environ, Env.COORDINATOR_TERM, 0),
            start=_whole(environ, Env.START, 0),
            rendezvous=_optional_address(environ, Env.RENDEZVOUS),
            has_gate=Env.REACHABLE in environ,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """How a worker reaches its coordinator."""

    worker_id: str
    attempt: int
    token: str
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BestCheckpointRule:
    metric: str
    goal: Literal["min", "max"]
    count: int

    def is_better(self, value: float, *, than: float) -> bool:
        return value < than if self.goal == "min" else value > than


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRules:
    folder: Path
    interval_seconds: float
    keep_last: int
    keep_best: BestCheckpointRule | None = None
    start: int = 0  # of the job, as `Env.START` counts them
    epoch: int = 0  # of the database that counted, as `Env.EPOCH` says


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStart:
    """What the job begins with, as another job, or a model, leaves it."""

    folder: Path
    skip: tuple[str, ...] = ()  # patterns of the names of weights that are not taken


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerEnvironment:
    """What a worker was started with; every part may be missing when it runs alone."""

    gpu_type: str | None  # of its pool
    gpus: tuple[str, ...]  # numbers or UUIDs, as the platform gave them
    gpu_exchange: GpuExchange

    platform: Platform | None
    checkpoints: CheckpointRules | None
    start: JobStart | None  # None: afresh
    batch: BatchRules | None
    seed: int
    sample_audit_dir: Path | None
    coordinator_lost_seconds: float

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> WorkerEnvironment:
        audit = environ.get(Env.SAMPLE_AUDIT_DIR)
        return cls(
            gpu_type=environ.get(Env.GPU_TYPE) or None,
            gpu_exchange=_gpu_exchange(environ),
            gpus=tuple(filter(None, environ.get(CUDA_GPUS, "").split(","))),
            platform=_platform(environ) if environ.get(Env.COORDINATOR) else None,
            checkpoints=_checkpoints(environ),
            start=_start(environ),
            batch=_batch(environ),
            seed=_whole(environ, Env.SEED, 0),
            sample_audit_dir=Path(audit) if audit else None,
            coordinator_lost_seconds=_seconds(
                environ, Env.COORDINATOR_LOST_SECONDS, COORDINATOR_LOST_SECONDS
            ),
        )


def hide_fixed_size(environ: MutableMapping[str, str]) -> None:
    """Take away what tells libraries that the number of workers is fixed.

    Lightning, Accelerate and `torch.distributed` would form a process group of the workers that
    happened to be there at the start. The platform sets these for restart mode.
    """
    for name in FIXED_SIZE_VARIABLES:
        environ.pop(name, None)


def _platform(environ: Mapping[str, str]) -> Platform:
    host, port = _address(_required(environ, Env.COORDINATOR))
    return Platform(
        worker_id=_required(environ, Env.WORKER_ID),
        attempt=_whole(environ, Env.ATTEMPT, 1),
        token=_required(environ, Env.TOKEN),
        host=host,
        port=port,
    )


def _checkpoints(environ: Mapping[str, str]) -> CheckpointRules | None:
    folder = environ.get(Env.CHECKPOINT_DIR)
    if not folder:
        return None
    return CheckpointRules(
        folder=Path(folder),
        interval_seconds=_seconds(environ, Env.CHECKPOINT_INTERVAL_SECONDS, 60.0),
        keep_last=max(1, _whole(environ, Env.CHECKPOINT_KEEP_LAST, 3)),
        keep_best=_keep_best(environ),
        start=_whole(environ, Env.START, 0),
        epoch=_whole(environ, Env.EPOCH, 0),
    )


def _keep_best(environ: Mapping[str, str]) -> BestCheckpointRule | None:
    text = environ.get(Env.CHECKPOINT_KEEP_BEST)
    if not text:
        return None
    try:
        rules = json.loads(text)
        goal: Literal["min", "max"] = "max" if rules["goal"] == "max" else "min"
        return BestCheckpointRule(
            metric=str(rules["metric"]), goal=goal, count=max(1, int(rules["n"]))
        )
    except (KeyError, TypeError, ValueError) as error:
        raise EnvironmentVariableError(
            Env.CHECKPOINT_KEEP_BEST, text, "JSON of BestRules"
        ) from error


def _start(environ: Mapping[str, str]) -> JobStart | None:
    folder, text = environ.get(Env.START_FROM), environ.get(Env.START_SKIP) or "[]"
    if not folder:
        return None
    try:
        return JobStart(folder=Path(folder), skip=tuple(str(one) for one in json.loads(text)))
    except (TypeError, ValueError) as error:
        raise EnvironmentVariableError(Env.START_SKIP, text, "a JSON list of patterns") from error


def _batch(environ: Mapping[str, str]) -> BatchRules | None:
    text = environ.get(Env.BATCH)
    if not text:
        return None
    try:
        rules = json.loads(text)
        return BatchRules(
            base=int(rules["base"]),
            lr_scaling=LearningRateScaling(rules["lr_scaling"]),
            lr_warmup_steps=int(rules["lr_warmup_steps"]),
            max_per_gpu=None if rules["max_per_gpu"] is None else int(rules["max_per_gpu"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise EnvironmentVariableError(Env.BATCH, text, "JSON of BatchRules") from error


def _gpu_exchange(environ: Mapping[str, str]) -> GpuExchange:
    text = environ.get(Env.GPU_EXCHANGE) or GpuExchange.NCCL
    try:
        return GpuExchange(text)
    except ValueError as error:
        raise EnvironmentVariableError(Env.GPU_EXCHANGE, text, "nccl or gloo") from error


def _optional_address(environ: Mapping[str, str], name: Env) -> tuple[str, int] | None:
    text = environ.get(name)
    return _address(text, name) if text else None


def _address(text: str, name: Env = Env.COORDINATOR) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit():
        raise EnvironmentVariableError(name, text, "host:port")
    return host, int(port)


def _required(environ: Mapping[str, str], name: Env) -> str:
    value = environ.get(name)
    if not value:
        raise EnvironmentVariableError(name, "", "a value: the platform sets it")
    return value


def _whole(environ: Mapping[str, str], name: Env, default: int) -> int:
    text = environ.get(name) or str(default)
    try:
        return int(text)
    except ValueError as error:
        raise EnvironmentVariableError(name, text, "a whole number") from error


def _seconds(environ: Mapping[str, str], name: Env, default: float) -> float:
    text = environ.get(name) or str(default)
    try:
        return float(text)
    except ValueError as error:
        raise EnvironmentVariableError(name, text, "a number of seconds") from error


class EnvironmentVariableError(Exception):
    """An environment variable has no value that makes sense."""

    def __init__(self, name: str, value: str, expected: str) -> None:
        super().__init__(f"{name}={value!r}: expected {expected}")
        self.name = name
        self.value = value
        self.expected = expected
