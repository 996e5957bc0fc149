"""What does a hostile tenant submit, and its coordinators report? The most that is taken."""

from __future__ import annotations

import json
import time
from typing import Any

from concertina_worker.protocol import (
    LARGEST_REPORT_BYTES,
    MOST_GENERATIONS,
    MOST_MEASUREMENTS,
    MOST_METRICS,
)

_MOST = 10**9


def extremes() -> list[dict[str, Any]]:
    """Specs with the largest numbers, ranges and texts that admission takes."""
    return [{"command": ["true"], **spec} for spec in _EXTREMES]


_EXTREMES: tuple[dict[str, Any], ...] = (
    {"elastic": {"min_workers": 1, "max_workers": 10_000}, "batch": {
        "global_batch_size": {"base": 1, "min": 1, "max": _MOST},
        "per_gpu_batch_size": {"max": _MOST}}},
    {"elastic": {"min_workers": 1, "max_workers": 10_000}, "batch": {
        "global_batch_size": {"base": _MOST, "min": 1, "max": _MOST, "multiple_of": 999_999_937},
        "per_gpu_batch_size": {"max": 1}, "gradient_accumulation": True}},
    {"elastic": {"min_workers": 1, "max_workers": 10_000, "worker_step": 3}, "batch": {
        "global_batch_size": {"base": 720_720, "min": 1, "max": _MOST, "multiple_of": 1},
        "gradient_accumulation": False}},
    {"elastic": {"allowed_workers": list(range(1, 1001)), "min_workers": 1, "max_workers": 1000}},
    {"priority": 100, "deadline": "2999-01-01T00:00:00Z", "seed": 2**31 - 1,
     "retry": {"max_restarts": 1000}, "checkpoint": {"interval": "168h", "keep_last": 1000}},
    {"labels": {f"label-{number}": "x" * 1000 for number in range(50)}},
    {"env": {f"VARIABLE_{number}": "\U0001f4a3" * 80 for number in range(50)}},
    {"command": ["x" * 4000] * 14},
)  # fmt: skip


def report(*, term: int) -> bytes:
    """A coordinator's, of almost the largest size, all of which is stored if it may be."""
    now = time.time()
    report: dict[str, Any] = {
        "term": term,
        "registered": True,
        "model_bytes": 10**15,
        "total_samples": 10**15,
        "noise_scale": 1e15,
        "batch_limit": _MOST,
        "revision": 1,
        "workers": [],
        "measurements": [
            {"workers": number + 1, "global_batch_size": 1 + number * 1000,
             "steps": 2**31 - 1, "step_seconds": 1e-9 if number % 2 else 1e9}
            for number in range(MOST_MEASUREMENTS)
        ],
        "generations": [
            {"number": number + 1, "revision": 1, "cause": "desired", "workers": [],
             "global_batch_size": 64, "began_at": now + number}
            for number in range(MOST_GENERATIONS)
        ],
        "metrics": [
            {"at": now + number, "generation": 1, "step": number, "values": {
                f"metric {name} {'x' * 20}": 1e99 for name in range(40)}}
            for number in range(MOST_METRICS)
        ],
    }  # fmt: skip
    body = json.dumps(report).encode()
    while len(body) > LARGEST_REPORT_BYTES:
        report["metrics"] = report["metrics"][: len(report["metrics"]) * 9 // 10]
        body = json.dumps(report).encode()
    return body
