"""Do a job's outputs come here whole, whatever breaks on the way?"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from storage.models import UnwantedResult
from storage.results.folders import ResultFolder, Results

from concertina import Client, Unreachable
from concertina.results.unpacking import unpack
from jobs.models import Job
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi

LARGE = 5 << 20


@pytest.fixture
def outputs(concertina: CommandLine, job_file: Path) -> Iterator[Path]:
    """The folder of a job's outputs, where the running api looks for it."""
    assert concertina("submit", "-f", job_file).exit_code == 0
    results = Results(
        state_dir=settings.CONCERTINA.state_dir,
        job_id=Job.objects.get().id,
        place=ResultFolder.OUTPUTS,
    )
    (results.folder / "plots").mkdir(parents=True)
    (results.folder / "plots" / "loss.png").write_bytes(b"png")
    (results.folder / "model.bin").write_bytes(os.urandom(LARGE))
    yield results.folder
    shutil.rmtree(results.folder.parent)


def test_outputs_are_listed(concertina: CommandLine, outputs: Path) -> None:
    (outputs / "[red]").touch()
    told = [line.split()[-1] for line in concertina("outputs", "ls", "digits").out.splitlines()]
    assert told == ["PATH", "[red]", "model.bin", "plots/"]
    inner = concertina("outputs", "ls", "digits", "plots/", "-o", "json").document
    assert [(one["path"], one["bytes"]) for one in inner] == [("plots/loss.png", 3)]
    assert concertina("outputs", "ls", "digits", "none").exit_code == 4


def test_a_file_is_fetched(concertina: CommandLine, outputs: Path, tmp_path: Path) -> None:
    ended = concertina("outputs", "get", "digits", "model.bin", "--into", tmp_path / "new")
    assert (ended.exit_code, ended.out.strip()) == (0, f"{tmp_path}/new/model.bin: 5.0 MiB.")
    assert (tmp_path / "new" / "model.bin").read_bytes() == (outputs / "model.bin").read_bytes()
    assert [one.name for one in (tmp_path / "new").iterdir()] == ["model.bin"]


def test_a_folder_is_fetched(concertina: CommandLine, outputs: Path, tmp_path: Path) -> None:
    ended = concertina("outputs", "get", "digits", "plots", "-d", tmp_path / "plots")
    assert ended.exit_code == 0, ended.err
    assert (tmp_path / "plots" / "loss.png").read_bytes() == b"png"
    ended = concertina("outputs", "get", "digits", "-d", tmp_path / "all")
    assert ended.out.strip() == f"2 files of vision/digits in {tmp_path}/all."
    assert (tmp_path / "all" / "model.bin").read_bytes() == (outputs / "model.bin").read_bytes()
    assert concertina("outputs", "get", "digits", "-d", tmp_path / "all").exit_code == 2
    assert concertina("outputs", "get", "digits", "none", "-d", tmp_path / "none").exit_code == 4
    assert not (tmp_path / "none").exists()


def test_what_is_deleted_is_not_listed(concertina: CommandLine, outputs: Path) -> None:
    assert concertina("outputs", "rm", "digits", "plots/", "model.bin").exit_code == 0
    assert "Nothing yet" in concertina("outputs", "ls", "digits").err
    assert UnwantedResult.objects.count() == 2
    assert concertina("outputs", "rm", "digits", "plots").exit_code == 4


def test_a_download_goes_on_where_the_service_died(
    api: RunningApi, token_of: dict[str, str], outputs: Path, tmp_path: Path
) -> None:
    """A file that takes longer than all buffers on the way: the rest of it is asked for again."""
    (outputs / "model.bin").write_bytes(os.urandom(64 << 20))
    heard: list[int] = []

    def die_once(here: int, total: int) -> None:
        assert total == 64 << 20
        if not heard:
            with api.away():
                pass
        heard.append(here)

    with Client(api.url, token_of["vision"]) as client:
        results = client.patient().results(Job.objects.get().id)
        assert results.download("model.bin", tmp_path / "here", on_progress=die_once) == 64 << 20
    assert (tmp_path / "here").read_bytes() == (outputs / "model.bin").read_bytes()
    assert heard == sorted(heard)


def test_two_downloads_to_one_place_at_once_are_both_whole(
    api: RunningApi, token_of: dict[str, str], outputs: Path, tmp_path: Path
) -> None:
    target, heard = tmp_path / "new" / "here", list[int]()
    with Client(api.url, token_of["vision"]) as client:
        results = client.results(Job.objects.get().id)

        def fetch_it_as_well(here: int, _total: int) -> None:
            if not heard:
                heard.append(here)
                results.download("model.bin", target)

        assert results.download("model.bin", target, on_progress=fetch_it_as_well) == LARGE
    assert target.read_bytes() == (outputs / "model.bin").read_bytes()
    assert list(target.parent.iterdir()) == [target]


def test_an_archive_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(Unreachable):
        unpack(iter([b"not a tar at all" * 100]), tmp_path / "into")
    assert not list(tmp_path.iterdir())
