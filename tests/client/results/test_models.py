"""Can people keep, find, fetch and delete models from the command line?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import safetensors.torch
from django.conf import settings
from storage.models import HeldCheckpoint
from storage.results import held
from storage.results.folders import ResultFolder, Results

from jobs.models import Job
from tests.client.command_line import CommandLine
from tests.left_checkpoints import leave, weights_of


@pytest.fixture
def state_dir(concertina: CommandLine, job_file: Path) -> Iterator[Path]:
    """Of the running api, where a job has left two checkpoints."""
    assert concertina("submit", "-f", job_file).exit_code == 0
    state_dir = settings.CONCERTINA.state_dir
    job = Job.objects.get()
    folder = Results(state_dir=state_dir, job_id=job.id, place=ResultFolder.CHECKPOINTS).folder
    for step in (10, 20):
        leave(folder, step, weights=weights_of(float(step)), val_loss=step / 100)
    yield state_dir
    shutil.rmtree(folder.parent)
    shutil.rmtree(state_dir / "jobs" / held.PARENT, ignore_errors=True)


def store(state_dir: Path) -> None:
    """As the next tick does."""
    for row in HeldCheckpoint.objects.all():
        held.make(row, state_dir)
    HeldCheckpoint.objects.update(state="held")


def test_a_model_from_its_job_to_a_file(
    concertina: CommandLine, state_dir: Path, tmp_path: Path
) -> None:
    assert "None." in concertina("models", "ls").err
    added = concertina("models", "add", "digits/10", "small", "--alias", "production")
    assert (added.exit_code, added.out.strip()) == (0, "small@1 is step 10 of digits.")
    assert concertina("models", "add", "vision/digits", "small", "--note", "Later.").exit_code == 0
    assert "storing" in concertina("models", "small").out
    store(state_dir)
    rows = [line.split() for line in concertina("models", "ls").out.splitlines()[1:]]
    assert [row[:4] for row in rows] == [
        ["small@2", "-", "val_loss", "0.2"],
        ["small@1", "production", "val_loss", "0.1"],
    ]
    assert rows[0][-1] == "Later."
    into = tmp_path / "model.safetensors"
    assert concertina("models", "get", "small@production", into).exit_code == 0
    assert safetensors.torch.load_file(into)["layer"].tolist() == [10.0]
    assert "step 10 of digits" in concertina("models", "show", "small@1").out


def test_an_alias_is_moved_and_what_nobody_uses_is_deleted(
    concertina: CommandLine, state_dir: Path
) -> None:
    for step in ("10", "20"):
        concertina("models", "add", "digits", "small", "--step", step, "--alias", "production")
    assert concertina("models", "rm", "small@2").exit_code == 3
    moved = concertina("models", "alias", "small@1", "production")
    assert moved.out.strip() == "small@1 is production."
    assert concertina("models", "rm", "small@2").exit_code == 0
    assert concertina("models", "alias", "small", "production", "--remove").exit_code == 0
    (model,) = concertina("models", "small", "-o", "json").document
    assert [one["version"] for one in model["versions"]] == [1]
    for wrong in (["small"], ["small@1", "--all"], ["@"], ["a/b@1"]):
        assert concertina("models", "rm", *wrong).exit_code == 2
    assert concertina("models", "get", "small@9").exit_code == 4
    assert concertina("models", "rm", "small", "--all").exit_code == 0
    assert concertina("models", "ls", "-o", "json").document == []
