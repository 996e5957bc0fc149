"""Has anything happened since was last looked ahead? If not, what was predicted still holds.

Where jobs only train, each look would tell the same again and take its share of a core for that. So
what a look saw, but for what moves with the time, is remembered for a while in Redis.
"""

from __future__ import annotations

import hashlib
import logging
import math
from dataclasses import replace
from typing import Final, Protocol

import redis

from autoscaler.planning.snapshot.cluster_state import ClusterState, PlannedJob
from autoscaler.planning.speed.throughput import Configurations

HOLDS_SECONDS: Final = 120.0
"""Guessed: jobs may come on faster or slower than was predicted though nothing happens to them."""
_SAME_SPEED: Final = math.log(1.05)  # speeds are measured again and again, each a little different
_SAME_MOMENT: Final = 60.0  # seconds; until when data takes is told again and again
_KEY: Final = "concertina:looked-ahead-from"

_log = logging.getLogger(__name__)


class LastLookStore(Protocol):
    """What is asked of Redis."""

    def get(self, name: str, /) -> object: ...

    def set(self, name: str, value: str, /, *, ex: int) -> object: ...


class LastLook:
    """What was seen when was last looked ahead. Without Redis nothing was."""

    def __init__(self, store: LastLookStore) -> None:
        self._store = store

    def saw(self, likeness: str) -> bool:
        """Return True if the same was seen a short while ago."""
        try:
            return self._store.get(_KEY) in {likeness, likeness.encode()}
        except (redis.RedisError, OSError):
            return False

    def note(self, likeness: str) -> None:
        try:
            self._store.set(_KEY, likeness, ex=math.ceil(HOLDS_SECONDS))
        except (redis.RedisError, OSError) as problem:
            _log.warning("Redis does not answer: %s", problem, extra={"action": "look_ahead"})


def likeness_of(state: ClusterState) -> str:
    """Return what two snapshots have in common between which nothing happened: a digest."""
    quotas = [replace(quota, decayed_gpu_seconds=0.0) for quota in state.quotas]
    jobs = [(_lasting(job), _speed(job)) for job in state.jobs]
    return hashlib.sha256(repr((state.pools, quotas, jobs)).encode()).hexdigest()


def _lasting(job: PlannedJob) -> PlannedJob:
    """The job without what moves while it trains."""
    return replace(
        job,
        attained_gpu_seconds=0.0,
        remaining_samples=None if job.remaining_samples is None else 0,
        scaling=None,
        noise_scale=None,
        reported=(),
        ready_at=None if job.ready_at is None else job.ready_at // _SAME_MOMENT,
    )


def _speed(job: PlannedJob) -> int | None:
    """Return how fast it is where it is, roughly."""
    if job.scaling is None or job.allocation is None or not job.allocation.workers:
        return None
    at = Configurations.of(
        workers=job.allocation.workers,
        crosses_nodes=len(job.allocation.workers_by_node) > 1,
        global_batch=job.allocation.global_batch_size,
        micro_batch=job.batch.max_per_gpu,
    )
    seconds = float(job.scaling.throughput.step_seconds(at))
    return round(math.log(seconds) / _SAME_SPEED) if 0 < seconds < math.inf else None
