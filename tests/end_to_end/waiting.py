"""Wait for a condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

import httpx

T = TypeVar("T")
PATIENCE: Final = 180.0  # seconds, for what loads PyTorch on a machine that is very busy
SOON, SHARE, LATE = 0.05, 0.1, 0.4  # looks again after a tenth of what it waited, in these bounds
REGISTRATION: Final = "10m"  # nor is a script to be taken for one without workers meanwhile


def until(condition: Callable[[], T | None], *, what: str, seconds: float = PATIENCE) -> T:
    """Wait for a condition to give something true, and return that."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < seconds:
        if found := condition():
            return found
        time.sleep(min(max(SOON, waited * SHARE), LATE))  # looking costs the service a processor
    raise AssertionError(f"not within {seconds:.0f} s: {what}")


def job_of(client: httpx.Client, job_id: str) -> dict[str, Any]:
    answer = client.get(f"/api/v1/jobs/{job_id}")
    assert answer.status_code == 200, answer.text
    job: dict[str, Any] = answer.json()
    return job
