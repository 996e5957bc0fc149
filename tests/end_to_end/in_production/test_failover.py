"""The database's primary dies and its standby takes over: no commit is lost, training goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from local_stack.stack.stack import Options

from tests.end_to_end import postgres_pair
from tests.end_to_end.postgres_pair import PostgresPair
from tests.end_to_end.running_stack import RunningStack, running
from tests.end_to_end.sample_audit import assert_every_sample_once
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import REGISTRATION, until

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1200)]
SAMPLES = 200


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresPair]:
    with postgres_pair.running(tmp_path_factory.mktemp("postgres")) as up:
        yield up


@pytest.fixture(scope="module")
def stack(pair: PostgresPair) -> Iterator[RunningStack]:
    with running(Options(slots=2, tick_seconds=1.0), {"DATABASE_URL": pair.url}) as ready:
        yield ready


def spec(name: str, scripts: Path, folder: Path, *, ending: tuple[str, ...]) -> dict[str, object]:
    script = str(scripts / "sleepy_regression.py")
    return {
        "name": name,
        "command": ["python", script, "--samples", str(SAMPLES), *ending],
        "env": {"CONCERTINA_SAMPLE_AUDIT_DIR": str(folder / name)},
        "elastic": {"min_workers": 1, "max_workers": 1, "registration_timeout": REGISTRATION},
        "batch": {"global_batch_size": 32},
    }


def test_a_standby_of_the_database_takes_over_while_a_job_trains(
    stack: RunningStack, pair: PostgresPair, scripts: Path, open_folder: Path
) -> None:
    with stack.client("vision") as client:
        stop = open_folder / "stop"
        before = spec("before", scripts, open_folder, ending=("--stop-file", str(stop)))
        training = SubmittedJob.submit(client, before)
        until(training.has_begun, what="the job trains")

        pair.fail_over()
        known = until(lambda: answered(training), what="the service answers again")
        assert known["attempt"] == 1
        until(lambda: training.document()["step"] > known["step"], what="its steps are written")

        after = SubmittedJob.submit(
            client, spec("after", scripts, open_folder, ending=("--epochs", "1"))
        )
        stop.touch()
        for job in (training, after):
            until(lambda job=job: job.is_in("completed"), what="the job completes")  # type: ignore[misc]
            document = job.document()
            assert (document["failures"], document["attempt"]) == (0, 1)
            assert_every_sample_once(open_folder / document["name"], samples=SAMPLES, job=document)


def answered(job: SubmittedJob) -> dict[str, object] | None:
    """The job's document; None while the service has no database."""
    try:
        answer = job.client.get(f"/api/v1/jobs/{job.job_id}")
    except httpx.HTTPError:
        return None
    return answer.json() if answer.status_code == 200 else None
