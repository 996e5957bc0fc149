"""Does the command line submit a sweep, show it and cancel it? With the example of the guide."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from sweeps.models import Sweep

from concertina.client import Client
from jobs.models import Job
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi
from tests.service.sweeps.conftest import go, tells, trials

GUIDE: Final = Path(__file__).parents[3] / "docs" / "jobs" / "sweeps.md"


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    """The guide's own example."""
    (example,) = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    path = tmp_path / "digits-sweep.yaml"
    path.write_text(example)
    return path


def test_the_guides_sweep_is_submitted_shown_and_cancelled(
    concertina: CommandLine, sweep_file: Path
) -> None:
    looked = concertina("submit", "-f", sweep_file, "--dry-run")
    assert "Its sweep makes 27 jobs" in looked.out, looked.err
    assert not Job.objects.exists()
    assert "No sweeps" in concertina("sweeps", "ls").err
    ended = concertina("submit", "-f", sweep_file, "--idempotency-key", "one")
    assert ended.exit_code == 0, ended.err
    sweep = Sweep.objects.get()
    assert f"Submitted sweep {sweep.pk} of 27 trials." in ended.err
    again = concertina("submit", "-f", sweep_file, "--idempotency-key", "one", "-o", "json")
    assert again.document["id"] == sweep.pk
    assert Job.objects.count() == 8
    assert "No trial has logged loss yet." in concertina("sweeps", "show", sweep.pk).err
    for number, loss in ((1, 0.4), (2, None), (3, 0.2), (4, 0.7)):
        tells(trials(sweep)[number], 1.0, loss=loss)
    go()
    listed = " ".join(concertina("sweeps", "ls").out.split())
    assert f"{sweep.pk} vision/digits-sweep min loss 11/27" in listed
    shown = concertina("sweeps", "show", "vision/digits-sweep")
    assert "Of each 3 trials one goes on from a rung: after 1, 3, 9 epochs." in shown.err
    assert "Best: digits-sweep-3" in " ".join(shown.err.split())
    table = " ".join(shown.out.split())
    for words in ("LR", "WIDTH", "waits at rung", "stopped", "no number", "* best"):
        assert words in table
    document = concertina("sweeps", "show", "digits-sweep", "-o", "json").document
    assert document["best"] == trials(sweep)[3].id
    told = concertina("sweeps", "cancel", "digits-sweep", "--reason", "enough")
    assert told.exit_code == 0, told.err
    assert "Its trials are cancelled" in told.err
    go()
    assert Job.objects.count() == 11


def test_what_is_wrong_in_a_sweep_names_its_line(concertina: CommandLine, sweep_file: Path) -> None:
    sweep_file.write_text(sweep_file.read_text().replace("[0.0001, 1.0]", "[0.0, 1.0]"))
    refused = concertina("submit", "-f", sweep_file)
    assert refused.exit_code == 3
    assert "sweep.parameters.lr.log_uniform" in refused.err
    assert f"{sweep_file}:" in "".join(refused.err.split())
    assert concertina("sweeps", "show", "digits").exit_code == 4
    waits = concertina("submit", "-f", sweep_file, "--wait")
    assert (waits.exit_code, Job.objects.exists()) == (2, False)


def test_a_program_does_the_same(api: RunningApi, token_of: dict[str, str]) -> None:
    spec = {
        "name": "digits",
        "command": ["python", "train.py", "--lr={{lr}}"],
        "sweep": {"parameters": {"lr": [0.1, 0.01]}, "metric": {"name": "loss"}},
    }
    with Client(api.url, token_of["vision"]) as client:
        made, is_new = client.sweeps.submit(spec)
        assert is_new
        assert [one["id"] for one in client.sweeps.every(team="vision")] == [made["id"]]
        assert client.sweeps.read(made["id"])["made"] == 2
        assert client.sweeps.cancel(made["id"])["states"] == {"cancelled": 2}
