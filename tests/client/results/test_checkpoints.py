"""Do a job's checkpoints come here, and are its weights opened without Concertina?"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import safetensors.torch
import torch
from django.conf import settings
from storage.results.folders import ResultFolder, Results

from concertina import BadInput, Client, Unreachable
from concertina.results import torch_file, weights
from jobs.models import Job
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi
from tests.left_checkpoints import PICKLED, leave, leave_as_before, weights_of


@pytest.fixture
def folder(concertina: CommandLine, job_file: Path) -> Iterator[Path]:
    """A job's checkpoints, where the running api looks for them."""
    keep = "checkpoint.keep_best={metric: val_loss, n: 1}"
    assert concertina("submit", "-f", job_file, "--set", keep).exit_code == 0
    results = Results(
        state_dir=settings.CONCERTINA.state_dir,
        job_id=Job.objects.get().id,
        place=ResultFolder.CHECKPOINTS,
    )
    leave(results.folder, 10, weights=weights_of(1.0, 2.0), val_loss=0.5)
    leave(results.folder, 20, weights=weights_of(3.0, 4.0), val_loss=0.75)
    yield results.folder
    shutil.rmtree(results.folder.parent)


def test_checkpoints_are_listed_with_or_without_a_verb(
    concertina: CommandLine, folder: Path
) -> None:
    leave_as_before(folder, 5)
    told = [line.split()[:4] for line in concertina("checkpoints", "digits").out.splitlines()]
    assert told == [
        ["STEP", "EPOCH", "METRICS", "SIZE"],
        ["20", "2", "val_loss", "0.75"],
        ["10", "1", "val_loss", "0.5"],
        ["5", "-", "-", "0.1"],
    ]
    listed = concertina("checkpoints", "ls", "digits", "-o", "json").document
    assert [one["step"] for one in listed] == [20, 10, 5]
    assert concertina("checkpoints", "none").exit_code == 4


def test_it_is_said_why_there_are_none(concertina: CommandLine, job_file: Path) -> None:
    assert concertina("submit", "-f", job_file).exit_code == 0

    def said(**changes: str) -> str:
        Job.objects.update(**changes)
        return concertina("checkpoints", "digits").err

    assert "in hot mode write them" in said(mode="restart")
    assert "None yet. It writes one after each 1m of training" in said(mode="hot")
    assert "ended before the first" in said(mode="hot", state="failed")


def test_one_place_to_put_it_is_meant(concertina: CommandLine) -> None:
    ended = concertina("checkpoints", "get", "digits", "-d", "all", "--weights", "model.pt")
    assert (ended.exit_code, "not both" in ended.err) == (2, True)


def test_all_of_a_checkpoint_is_fetched(
    concertina: CommandLine, folder: Path, tmp_path: Path
) -> None:
    ended = concertina("checkpoints", "get", "digits", "-d", tmp_path / "all")
    assert ended.exit_code == 0, ended.err
    assert ended.out.startswith(f"Step 20 of vision/digits in {tmp_path}/all: ")
    assert sorted(one.name for one in (tmp_path / "all").iterdir()) == [
        "model.safetensors",
        "training.pt",
    ]
    assert (tmp_path / "all" / "training.pt").read_bytes().startswith(PICKLED)
    assert concertina("checkpoints", "get", "digits", "7").exit_code == 4
    assert concertina("checkpoints", "get", "digits", "../7").exit_code == 2


@pytest.mark.parametrize(("which", "numbers"), [("best", [1.0, 2.0]), ("20", [3.0, 4.0])])
def test_weights_are_opened_without_concertina(
    concertina: CommandLine, folder: Path, tmp_path: Path, which: str, numbers: list[float]
) -> None:
    for file in ("model.safetensors", "model.pt"):
        ended = concertina("checkpoints", "get", "digits", which, "--weights", tmp_path / file)
        assert ended.exit_code == 0, ended.err
    assert sorted(one.name for one in tmp_path.glob("*model*")) == ["model.pt", "model.safetensors"]
    plain = safetensors.torch.load_file(tmp_path / "model.safetensors")
    pickled = torch.load(tmp_path / "model.pt", weights_only=True)
    assert plain["layer"].tolist() == pickled["layer"].tolist() == numbers


def test_a_file_of_another_kind_is_refused_before_anything_is_fetched(
    concertina: CommandLine, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = concertina("checkpoints", "get", "digits", "--weights", tmp_path / "model.onnx")
    assert refused.exit_code == 2
    assert "name a file that ends in .safetensors or .pt" in refused.err
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BadInput, match=r"Ask for a file named \.safetensors"):
        weights.bring(lambda _: 0, None, tmp_path / "model.pt")
    assert not list(tmp_path.glob("*model*"))


def test_weights_that_came_damaged_do_not_stay(
    api: RunningApi, token_of: dict[str, str], folder: Path, tmp_path: Path
) -> None:
    (path,) = folder.glob("step-000000000020.*.safetensors")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with Client(api.url, token_of["vision"]) as client:
        checkpoints = client.results(Job.objects.get().id).checkpoints
        with pytest.raises(Unreachable, match="checksums differ"):
            checkpoints.download_weights("latest", tmp_path / "model.safetensors")
    assert not list(tmp_path.glob("*model*"))


def test_what_is_deleted_is_not_listed(concertina: CommandLine, folder: Path) -> None:
    assert concertina("checkpoints", "rm", "digits", "10").exit_code == 0
    assert len(concertina("checkpoints", "digits", "-o", "json").document) == 1
    refused = concertina("checkpoints", "rm", "digits", "20")
    assert refused.exit_code == 3
    assert "would go on from its newest checkpoint" in refused.err


def test_what_is_no_safetensors_makes_no_file(tmp_path: Path) -> None:
    (tmp_path / "wrong").write_bytes(b"\1\0\0\0\0\0\0\0[")
    with pytest.raises(BadInput, match="no safetensors"):
        torch_file.write(tmp_path / "wrong", tmp_path / "model.pt")
    assert not (tmp_path / "model.pt").exists()
