"""Which values may a worker's message have? Workers run a tenant's code.

What they say has bounds before anything is made of it, so that no message of theirs makes a
report that the service cannot take.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from concertina_worker.plan import GenerationPlan
from concertina_worker.protocol import MOST_WORKERS

LARGEST_NUMBER: Final = 10**9  # of generations, revisions, batches and attempts
LARGEST_COUNT: Final = 10**15  # of samples, steps and bytes
_LARGEST_AMOUNT: Final = 1e15
_LATEST_SECONDS: Final = 32_503_680_000  # the year 3000; the service takes nothing later
_MOST_VALUES: Final = 64  # metrics a script may log; the service keeps as many
_LONGEST_NAME: Final = 80
_LONGEST_ERROR: Final = 2000
_WORKER_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,40}")


def whole(value: Any, most: int = LARGEST_NUMBER) -> int:
    """Raises: ValueError, if it is no whole number from 0 to `most`."""
    number = int(value)
    if not 0 <= number <= most:
        raise ValueError(f"a number from 0 to {most} is meant")
    return number


def amount(value: Any) -> float:
    """Return the number; 0 if it makes no sense, not being finite for one.

    Raises:
        TypeError: it is no number.
    """
    if not isinstance(value, int | float):
        raise TypeError("a number is meant")
    return float(value) if 0 <= value <= _LARGEST_AMOUNT else 0.0


def moment(value: Any) -> float:
    """Unix seconds; what can be no clock's is 0.

    Raises:
        TypeError: it is no number.
    """
    seconds = amount(value)
    return seconds if seconds <= _LATEST_SECONDS else 0.0


def worker_id(value: Any) -> str:
    """Raises: ValueError, if no worker can be called so."""
    if not _WORKER_ID.fullmatch(str(value)):
        raise ValueError("the name of a worker is meant")
    return str(value)


def text(value: Any) -> str:
    return str(value)[:_LONGEST_ERROR]


def logged(values: Mapping[str, Any]) -> dict[str, float]:
    """The first of what a script logs, as far as they are numbers."""
    kept = [(name, value) for name, value in values.items() if _can_be_logged(value)]
    return {str(name)[:_LONGEST_NAME]: float(value) for name, value in kept[:_MOST_VALUES]}


def _can_be_logged(value: Any) -> bool:
    if isinstance(value, float):
        return True  # one that is not finite is news: the training diverges
    return isinstance(value, int) and abs(value) <= LARGEST_COUNT


def rate(value: Any) -> float:
    """May be negative; what is not finite is 0."""
    number = value if isinstance(value, int) and abs(value) <= LARGEST_COUNT else 0.0
    number = value if isinstance(value, float) else number
    return float(number) if math.isfinite(number) else 0.0


Check = Callable[[Any], Any]
OF_METRIC: Final[Mapping[str, Check]] = {
    "at": moment,
    "generation": whole,
    "step": lambda value: whole(value, LARGEST_COUNT),
    "epoch": amount,
    "samples": lambda value: whole(value, LARGEST_COUNT),
    "samples_per_second": amount,
    "step_seconds": amount,
    "compute_seconds": amount,
    "communication_seconds": amount,
    "local_batch_size": whole,
    "learning_rate": rate,
    "values": logged,
}
OF_MEASUREMENT: Final[Mapping[str, Check]] = {
    "workers": whole,
    "global_batch_size": whole,
    "steps": whole,
    "step_seconds": amount,
}
OF_GPU_USE: Final[Mapping[str, Check]] = {
    "gpu_utilisation": amount,
    "gpu_memory_bytes": lambda value: whole(value, LARGEST_COUNT),
    "gpu_memory_total_bytes": lambda value: whole(value, LARGEST_COUNT),
}


def checked(document: Mapping[str, Any], checks: Mapping[str, Check]) -> dict[str, Any]:
    """The fields that are known, each within its bounds.

    Raises:
        KeyError: one is missing.
        TypeError, ValueError: one makes no sense.
    """
    return {name: check(document[name]) for name, check in checks.items()}


def plan(document: Mapping[str, Any]) -> GenerationPlan:
    """A plan as a worker tells it.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    return GenerationPlan(
        generation=whole(document["generation"]),
        members=_names(document["members"]),
        joiners=_names(document["joiners"]),
        is_recovery=bool(document["is_recovery"]),
        global_batch_size=whole(document["global_batch_size"]),
        batch_limit=None if document["batch_limit"] is None else whole(document["batch_limit"]),
        revision=whole(document["revision"]),
        timeout_seconds=amount(document["timeout_seconds"]),
        holders=_names(document.get("holders", [])),
    )


def _names(value: list[Any]) -> tuple[str, ...]:
    if len(value) > MOST_WORKERS:
        raise ValueError(f"at most {MOST_WORKERS} workers are meant")
    return tuple(map(worker_id, value))
