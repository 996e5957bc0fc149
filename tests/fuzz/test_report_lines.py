"""Whatever a script appends to its report file: is it stored, or left out, and never in the way?"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.db import transaction
from hypothesis import strategies as st
from rest_framework.test import APIClient

from autoscaler.script_reports.reading import read_scripts
from jobs.models import Generation, Job, MetricPoint
from tests.fuzz.conftest import Fuzz
from tests.fuzz.values import EDGES

NOW = datetime(2026, 12, 1, tzinfo=UTC)
NUMBERS = st.one_of(
    st.sampled_from([0, 1, 10**15, 10**15 + 1, 10**21, -1, 1e300, 5e-324, float("nan")]),
    st.integers(0, 10**6),
    st.floats(),
)
NAMES = st.one_of(
    st.sampled_from(["step", "at", "samples", "total_steps", "epoch", "learning_rate", "loss"]),
    st.text(max_size=8),
)
LINES = st.one_of(
    st.dictionaries(NAMES, EDGES, max_size=6).map(lambda d: json.dumps(d).encode()),
    st.tuples(NUMBERS, st.dictionaries(NAMES, NUMBERS, max_size=3)).map(
        lambda told: json.dumps({"step": told[0], **told[1]}).encode()
    ),
    st.binary(max_size=20),
)
WRITTEN = st.lists(st.lists(LINES, max_size=4), min_size=1, max_size=3)


def test_any_line_is_stored_or_left_out_and_keeps_no_later_one_from_being_read(
    fuzz: Fuzz, api: APIClient, job: Job, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Job.objects.filter(pk=job.pk).update(
        state="running", mode="restart", generation=1, started_at=NOW
    )
    Generation.objects.create(
        job=job, number=1, attempt=1, revision=1, workers=1, worker_ids=["w"],
        global_batch_size=10**9, reason="", began_at=NOW,
    )  # fmt: skip
    path = tmp_path / "jobs" / job.id / "reports" / "w.jsonl"
    path.parent.mkdir(parents=True)

    def holds(written: list[list[bytes]]) -> None:
        path.unlink(missing_ok=True)
        caplog.clear()
        with transaction.atomic():
            for lines in (*written, [b'{"step": 77, "at": 1000}']):
                with path.open("ab") as file:
                    file.writelines(line + b"\n" for line in lines)
                read_scripts(NOW, tmp_path, has_time=lambda: True)
                assert not [record.exc_info for record in caplog.records]
            assert MetricPoint.objects.filter(job=job, step=77).exists()
            for part in ("", "/metrics", "/generations", "/explain"):
                assert api.get(f"/api/v1/jobs/{job.id}{part}").status_code == 200, part
            transaction.set_rollback(True)

    fuzz(WRITTEN, holds, in_suite=40)
