"""Does what a job logged come here as CSV, JSON, Parquet and as what TensorBoard reads?"""

from __future__ import annotations

import csv
import io
import signal
import sys
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pyarrow.parquet
import pytest
from django.utils import timezone
from local_stack.checkout import free_port
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from concertina import BadInput, Client
from jobs.models import Job, MetricPoint
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi

NOW = timezone.now()


@pytest.fixture
def job(concertina: CommandLine, job_file: Path) -> Job:
    """It has logged ten points."""
    assert concertina("submit", "-f", job_file).exit_code == 0
    job = Job.objects.get()
    log(job, range(1, 11))
    return job


def log(job: Job, steps: range) -> None:
    MetricPoint.objects.bulk_create(
        MetricPoint(
            job=job,
            at=NOW + timedelta(seconds=step),
            generation=1,
            step=step,
            epoch=0.1,
            samples=8 * step,
            samples_per_second=8.0,
            step_seconds=1.0,
            compute_seconds=1.0,
            communication_seconds=0.0,
            learning_rate=0.1,
            values={"loss": 1 / step, "[red]": None},
        )
        for step in steps
    )


def losses(folder: Path) -> list[tuple[int, float]]:
    """What TensorBoard finds there."""
    (file,) = folder.iterdir()
    events = list(EventFileLoader(str(file)).Load())
    return [
        (event.step, round(value.tensor.float_val[0], 6))
        for event in events
        for value in event.summary.value
        if value.tag == "loss"
    ]


def test_a_curve_is_written_on_standard_output(concertina: CommandLine, job: Job) -> None:
    rows = list(csv.DictReader(io.StringIO(concertina("metrics", "digits").out)))
    assert [row["step"] for row in rows] == [str(step) for step in range(1, 11)]
    assert (rows[-1]["values.loss"], rows[-1]["values.[red]"]) == ("0.1", "")
    document = concertina("metrics", "digits", "-o", "json").document
    assert [point["values"]["loss"] for point in document["items"]][:2] == [1.0, 0.5]
    since = (NOW + timedelta(seconds=8)).strftime("%Y-%m-%dT%H:%M:%S")
    assert len(concertina("metrics", "digits", "--since", since).out.splitlines()) in {4, 5}


def test_a_curve_is_written_as_parquet_with_types(
    concertina: CommandLine, job: Job, tmp_path: Path
) -> None:
    ended = concertina("metrics", "digits", "--into", tmp_path / "new" / "digits.parquet")
    assert ended.exit_code == 0, ended.err
    table = pyarrow.parquet.read_table(tmp_path / "new" / "digits.parquet")
    assert table.num_rows == 10
    last = table.to_pylist()[-1]
    assert (last["step"], last["values.loss"], last["values.[red]"]) == (10, 0.1, None)
    assert last["at"] == NOW + timedelta(seconds=10)
    MetricPoint.objects.all().delete()
    assert concertina("metrics", "digits", "-d", tmp_path / "none.parquet").exit_code == 0
    assert pyarrow.parquet.read_table(tmp_path / "none.parquet").num_rows == 0
    assert sorted(one.name for one in tmp_path.glob("*.parquet")) == ["none.parquet"]


def test_a_name_that_says_no_format_is_refused_before_anything_is_sent(
    stranger: CommandLine, tmp_path: Path
) -> None:
    ended = stranger("metrics", "digits", "--into", tmp_path / "digits.xls")
    assert (ended.exit_code, ".parquet" in ended.err) == (2, True)


def test_what_is_not_installed_is_told_with_what_to_install(
    api: RunningApi, token_of: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pyarrow", "tensorboard.compat.proto.event_pb2"):
        monkeypatch.setitem(sys.modules, name, None)
    with Client(api.url, token_of["vision"]) as client:
        with pytest.raises(BadInput, match=r"concertina-client\[parquet\]"):
            client.results("a").write_metrics(tmp_path / "a.parquet")
        with pytest.raises(BadInput, match=r"concertina-client\[tensorboard\]"):
            client.results("a").event_files(tmp_path / "a")


def test_event_files_are_kept_up_to_date_without_a_point_twice(
    api: RunningApi, token_of: dict[str, str], job: Job, tmp_path: Path
) -> None:
    with Client(api.url, token_of["vision"]) as client:
        files = client.results(job.id).event_files(tmp_path / "curve")
        assert files.bring_up_to_date() == 10
        log(job, range(11, 13))
        assert [files.bring_up_to_date(), files.bring_up_to_date()] == [2, 0]
        files.close()
    expected = [(step, round(1 / step, 6)) for step in range(1, 13)]
    assert losses(tmp_path / "curve") == expected


def test_tensorboard_opens_the_curves_of_several_jobs(
    concertina: CommandLine, job: Job, job_file: Path, tmp_path: Path
) -> None:
    concertina("submit", "-f", job_file, "--set", "name=second")
    folder = tmp_path / "events"
    ended = concertina("tensorboard", "digits", "second", "--only-write", "--into", folder)
    assert ended.out.strip() == f"10 points of 2 jobs in {folder}."
    assert losses(folder / f"vision-digits-{job.id}")[0] == (1, 1.0)
    port = free_port(6006)
    with concertina.running("tensorboard", "digits", "--port", str(port)) as (board, end):
        board.wait_until_said("http://")
        answer = httpx.get(f"http://localhost:{port}/data/runs", timeout=60)
        assert answer.json() == [f"vision-digits-{job.id}"]
        board.process.send_signal(signal.SIGINT)
        assert end().exit_code in {0, 130}


def test_moments_are_of_utc_unless_they_say_otherwise(concertina: CommandLine, job: Job) -> None:
    later = datetime.now().astimezone() + timedelta(minutes=5)
    until = f"{later:%Y-%m-%dT%H:%M:%S%z}"
    assert len(concertina("metrics", "digits", "--until", until).out.splitlines()) == 11
    assert concertina("metrics", "digits", "--since", "tomorrow").exit_code == 2
