"""Does the command line submit an array, show it and steer it? With the example of the guide."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from concertina.client import Client
from jobs.models import Job, JobArray
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi

GUIDE: Final = Path(__file__).parents[3] / "docs" / "jobs" / "job-spec.md"


@pytest.fixture
def array_file(tmp_path: Path) -> Path:
    """The guide's own example."""
    blocks = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    (example,) = [block for block in blocks if "\narray:" in block]
    path = tmp_path / "digits.yaml"
    path.write_text(example)
    return path


def test_the_guides_array_is_submitted_shown_and_steered(
    concertina: CommandLine, array_file: Path
) -> None:
    looked = concertina("submit", "-f", array_file, "--dry-run")
    assert "Its array makes 18 jobs" in looked.out
    assert not Job.objects.exists()
    ended = concertina("submit", "-f", array_file)
    assert ended.exit_code == 0, ended.err
    array = JobArray.objects.get()
    assert f"Submitted 18 jobs of array {array.pk}." in ended.err
    assert len(ended.out.splitlines()) == 18
    job = Job.objects.get(name="digits-18")
    assert job.resolved_spec["command"] == ["python", "train.py", "--lr", "0.01"]
    assert (job.resolved_spec["env"], job.resolved_spec["seed"]) == ({"OPTIMIZER": "adam"}, 2)
    assert (job.labels, job.array_limit) == ({"lr": "0.01"}, 8)
    listed = concertina("ps", "--array", "digits", "-o", "json").document
    assert {one["id"] for one in listed} == set(Job.objects.values_list("pk", flat=True))
    told = " ".join(concertina("describe", job.pk).out.split())
    assert f"18 of array {array.pk}: lr 0.01, optimizer adam, seed 2" in told
    assert f"{array.pk} vision/digits 18" in " ".join(concertina("arrays", "ls").out.split())
    shown = concertina("arrays", "show", "vision/digits", "-o", "json").document
    assert [one["trial"]["number"] for one in shown["jobs"]] == [*range(1, 19)]
    assert "OPTIMIZER" in concertina("arrays", "show", array.pk).out
    for verb, state in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")):
        told = concertina("arrays", verb, "digits", "--reason", "enough")
        assert told.exit_code == 0, told.err
        assert f"18 {state}" in " ".join(told.out.split())
        assert set(Job.objects.values_list("state", flat=True)) == {state}


def test_what_is_wrong_in_an_array_names_its_line(
    concertina: CommandLine, array_file: Path
) -> None:
    array_file.write_text(array_file.read_text().replace("0..2 ", "2..0 "))
    refused = concertina("submit", "-f", array_file)
    assert refused.exit_code == 3
    assert "array.parameters.seed" in refused.err
    assert f"{array_file}:" in "".join(refused.err.split())
    assert concertina("arrays", "show", "digits").exit_code == 4
    waits = concertina("submit", "-f", array_file, "--wait")
    assert (waits.exit_code, Job.objects.exists()) == (2, False)


def test_a_program_submits_an_array_and_reads_it(api: RunningApi, token_of: dict[str, str]) -> None:
    spec = {
        "name": "tried",
        "command": ["python", "train.py", "{{lr}}"],
        "array": {"parameters": {"lr": [1, 2]}},
    }
    with Client(api.url, token_of["vision"]) as client:
        made = client.submit_array(spec)
        assert made.is_new
        found = client.arrays.find("tried")
        assert (found["id"], found["states"]) == (made.jobs["array"], {"queued": 2})
        assert client.arrays.array(found["id"]) == found
        assert client.arrays.cancel(found["id"])["states"] == {"cancelled": 2}
        assert [one["id"] for one in client.arrays.every(name="tried")] == [found["id"]]
