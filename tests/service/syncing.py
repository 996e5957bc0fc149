"""What a coordinator reports, and how it is sent: say only what a test is about."""

from __future__ import annotations

import json
import time
from typing import Any

from django.test import Client
from django.utils import timezone

from jobs.models import Job, Worker
from jobs.reports import job_token

NOW = time.time() - 600  # jobs of these tests have been there for longer


def report(**changes: Any) -> dict[str, Any]:
    return {
        "coordinator_started_at": NOW,
        "registered": True,
        "model_bytes": 1000,
        "total_samples": 4000,
        "revision": 1,
        "generation": 0,
        "workers": [],
        "generations": [],
        "metrics": [],
        "measurements": [],
        "checkpoint_step": None,
        "finished": False,
        **changes,
    }


def began(number: int, workers: list[Worker], **changes: Any) -> dict[str, Any]:
    return {
        "number": number,
        "revision": 1,
        "cause": "desired",
        "workers": [worker.id for worker in workers],
        "global_batch_size": 64,
        "began_at": NOW + number,
        "step": 10 * number,
        "stall_seconds": 0.125,
        "lost_workers": [],
        **changes,
    }


def metric(step: int, **changes: Any) -> dict[str, Any]:
    return {
        "at": NOW + step,
        "generation": 1,
        "step": step,
        "epoch": step / 100,
        "samples": step * 64,
        "samples_per_second": 640.0,
        "step_seconds": 0.1,
        "compute_seconds": 0.08,
        "communication_seconds": 0.02,
        "local_batch_size": 32,
        "learning_rate": 0.01,
        "values": {"loss": 1.0 / (step + 1)},
        **changes,
    }


def measured(workers: int, batch: int, **changes: Any) -> dict[str, Any]:
    return {
        "workers": workers,
        "global_batch_size": batch,
        "steps": 10,
        "step_seconds": 0.1,
        **changes,
    }


def token_of(job: Job, term: int = 0) -> str:
    return job_token.of_coordinator(job.id, term=term, now=timezone.now())


def sync(job: Job, body: object, token: str | None = None) -> Any:
    """Report, with the token of a coordinator of the term that the report names."""
    term = body.get("term", 0) if isinstance(body, dict) else 0
    return Client().post(
        f"/internal/v1/jobs/{job.id}/sync",
        json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token or token_of(job, term)}"},
    )
