"""Is the format of a recording recognised, and said? And where none fits, what was looked for?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from autoscaler.simulation.engine.workload.importers.concertina_json import to_json
from autoscaler.simulation.engine.workload.importers.table import InvalidRecordingError
from autoscaler.simulation.engine.workload.recordings import RecordingFormat, read_recording
from tests.simulation.recordings.test_cluster_logs import TASKS
from tests.simulation.workloads import job, trace

PHILLY = json.dumps(
    {
        "jobid": "a",
        "submitted_time": "2017-10-07 01:11:39",
        "attempts": [
            {
                "start_time": "2017-10-07 01:12:00",
                "end_time": "2017-10-07 02:12:00",
                "detail": [{"ip": "m", "gpus": ["gpu0"]}],
            }
        ],
    }
)


def test_the_examples_of_the_documentation_are_read() -> None:
    text = (Path(__file__).parents[3] / "docs" / "planning" / "traces.md").read_text()
    examples = re.findall(r"```(?:json|csv)\n(.*?)```", text, flags=re.DOTALL)
    jobs = [len(read_recording(example, name="x").trace.jobs) for example in examples]
    assert jobs == [1, 2, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (to_json(trace(job("a"))), "A trace of ours in JSON"),
        ("name,submitted_at,profile,samples\na,0,ncf,9\n", "A trace of ours as CSV"),
        ("time,application,num_replicas\n0,ncf,1\n", "A workload of the Pollux simulator"),
        ("submission_time,application,num_workers\n0,ncf,1\n", "A workload of the Pollux"),
        (TASKS, "The table of tasks of Alibaba's PAI"),
        ("Submit_Time, Duration, GPUs\n0,60,1\n", "A log of a cluster, by its columns submit_time"),
        (f"\n[{PHILLY}]", "The log of Philly in JSON"),
    ],
)
def test_a_format_is_recognised_by_its_columns_and_said(text: str, kind: str) -> None:
    assert read_recording(text, name="x").summary().startswith(kind)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("submit_time,gpus", "looks most like a log of a cluster, but has no column duration or"),
        ("name,submitted_at,profile", "looks most like our own format, but has no column samples"),
        ("time,application", "like a workload of the Pollux simulator, but has no column num_"),
        ("job_name,inst_id,user,status,start_time,end_time", "has no column task_name and no"),
    ],
)
def test_a_missing_column_is_named(header: str, problem: str) -> None:
    with pytest.raises(InvalidRecordingError, match=problem):
        read_recording(f"{header}\n1,2,3\n", name="x")


def test_where_nothing_fits_it_is_said_what_was_looked_for() -> None:
    with pytest.raises(InvalidRecordingError) as refusal:
        read_recording("eggs,milk\n6,1\n", name="x")
    said = str(refusal.value)
    for words in ("like: eggs, milk", "name, submitted_at, profile, samples", "num_gpu or gpu_num"):
        assert words in said


def test_what_cannot_be_printed_is_not_put_on_a_terminal() -> None:
    with pytest.raises(InvalidRecordingError, match=r"columns like: \?\?a\?\[31m\."):
        read_recording("\0\0a\x1b[31m\n", name="x")


@pytest.mark.parametrize("text", ["", "\n", "\ufeff"])
def test_an_empty_text_is_said_to_be_empty(text: str) -> None:
    with pytest.raises(InvalidRecordingError, match="the recording is empty"):
        read_recording(text, name="x")


def test_a_recording_of_which_nothing_is_left_says_what_was_left_out() -> None:
    with pytest.raises(InvalidRecordingError, match=r"no jobs to replay.*left out 1 that used no"):
        read_recording("time,duration,gpus\n0,60,0\n", name="x")


def test_a_format_that_is_named_is_not_guessed() -> None:
    with pytest.raises(InvalidRecordingError, match="no column application"):
        read_recording("time,duration,gpus\n0,60,1\n", RecordingFormat.POLLUX, name="x")
