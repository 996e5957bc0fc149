"""Can any report of a job's coordinator be more than the service can take?"""

from __future__ import annotations

import copy
from typing import Any, Final

from django.db import transaction
from hypothesis import strategies as st
from rest_framework.test import APIClient

from jobs.models import Job, Worker
from tests.fuzz.conftest import Fuzz
from tests.fuzz.values import EDGES, changed
from tests.service.syncing import began, measured, metric, report, sync, token_of

PARTS: Final = ("workers", "generations", "metrics", "measurements")
WHOLE: Final = (*PARTS, "term", "registered", "model_bytes", "noise_scale", "batch_limit")
OTHERS: Final = ("total_samples", "revision", "generation", "checkpoint_step", "finished")
WORKER: Final = ("worker_id", "phase", "error", "given_up", *Worker.MEASURED)
FIELDS: Final = [
    *((name,) for name in (*WHOLE, *OTHERS)),
    *(("generations", "0", name) for name in began(1, [])),
    *(("metrics", "0", name) for name in (*metric(1), "values")),
    ("metrics", "0", "values", "loss"),
    *(("measurements", "0", name) for name in measured(1, 64)),
    *(("workers", "0", name) for name in WORKER),
]
CHANGES: Final = st.lists(st.tuples(st.sampled_from(FIELDS), EDGES), min_size=1, max_size=6)


def test_any_report_is_taken_or_refused_and_never_keeps_the_next_from_being_taken(
    fuzz: Fuzz, api: APIClient, job: Job, workers: list[Worker]
) -> None:
    honest = report(
        generation=1,
        generations=[began(1, workers)],
        metrics=[metric(1)],
        measurements=[measured(2, 64)],
        workers=[{"worker_id": one.id, "phase": "training"} for one in workers],
    )

    token = token_of(job)

    def holds(changes: list[tuple[tuple[str, ...], Any]]) -> None:
        with transaction.atomic():
            answer = sync(job, changed(copy.deepcopy(honest), changes), token)
            assert answer.status_code in {200, 400, 409}, answer.content
            later = report(metrics=[metric(9)], generations=[began(2, workers)])
            assert sync(job, later).status_code == 200
            assert api.get("/api/v1/jobs").status_code == 200
            for part in ("", "/metrics", "/generations", "/workers", "/events", "/explain"):
                assert api.get(f"/api/v1/jobs/{job.id}{part}").status_code == 200, part
            transaction.set_rollback(True)

    fuzz(CHANGES, holds, in_suite=20)
