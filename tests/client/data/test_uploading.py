"""Does `data put` send a folder as it is, once, and go on where it was broken off?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from storage.data.uploaded.paths import UploadedPaths
from storage.models import DataSnapshot, DataSource
from storage.uploads.closed import remove

from concertina import BadInput
from concertina.data import folders
from concertina.data.folders import FolderStream
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "digits"
    (made / "train").mkdir(parents=True)
    (made / "train" / "one").write_bytes(b"1" * 20)
    (made / "train" / "none").touch()
    (made / "labels").symlink_to("train/one")
    return made


@pytest.fixture
def paths(api: RunningApi) -> Iterator[UploadedPaths]:
    """Where the running api keeps data."""
    found = UploadedPaths(state_dir=settings.CONCERTINA.state_dir)
    yield found
    remove(found.root)


def whole(stream: FolderStream) -> bytes:
    stream.seek(0)
    return b"".join(iter(lambda: stream.read(1 << 20), b""))


def test_a_folder_is_read_as_one_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "BLOCK", 16)
    heard: list[tuple[int, int]] = []
    with FolderStream(folder, on_read=lambda *told: heard.append(told)) as stream:
        head, _, content = whole(stream).rpartition(b"\n")
        assert head.splitlines()[1:4] == [b"f 20 labels", b"f 0 train/none", b"f 20 train/one"]
        assert content == b"1" * 40
        assert heard == [(16, 40), (32, 40), (40, 40)]
        stream.seek(stream.length - 40 + 4)
        assert [len(stream.read(100)) for _ in range(4)] == [12, 16, 8, 0]
        assert (stream.files, stream.total, stream.length) == (3, 40, len(head) + 1 + 40)


def test_the_same_files_are_the_same_whenever_they_were_written(folder: Path) -> None:
    first = FolderStream(folder)
    os.utime(folder / "train" / "one", (1, 1))
    assert FolderStream(folder).digest == first.digest
    (folder / "train" / "one").chmod(0o755)
    assert FolderStream(folder).digest != first.digest


def test_a_file_that_changes_meanwhile_is_named(folder: Path) -> None:
    stream = FolderStream(folder)
    (folder / "train" / "one").write_bytes(b"2" * 20)
    with pytest.raises(BadInput, match="labels has changed while it was read"):
        whole(stream)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("/etc/hosts", "wrong is a link to /etc/hosts, which is not in"),
        ("nowhere", "wrong cannot be read"),
        ("train", "wrong is a link to a folder"),
        ("wrong", "wrong cannot be read"),
        ("/dev/null", "wrong is a link to /dev/null"),
    ],
)
def test_links_that_lead_elsewhere_are_refused(folder: Path, target: str, said: str) -> None:
    (folder / "wrong").symlink_to(target)
    with pytest.raises(BadInput, match=said):
        FolderStream(folder)


def test_what_is_no_folder_of_files_is_refused(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(BadInput, match="pipe is neither a file nor a folder"):
        FolderStream(folder)
    (tmp_path / "empty").mkdir()
    for wrong in (tmp_path / "empty", tmp_path / "none", folder / "train" / "one"):
        with pytest.raises(BadInput):
            FolderStream(wrong)


def test_a_folder_is_sent_once_and_named(
    concertina: CommandLine, folder: Path, paths: UploadedPaths
) -> None:
    done = concertina("data", "put", folder, "digits")
    assert done.exit_code == 0, done.err
    assert done.out == "Data digits is 3 files, 0.0 KiB, sent.\n"
    source = DataSource.objects.get()
    there = paths.folder(int(source.place["owner"]), source.place["digest"])
    assert (there / "labels").read_bytes() == b"1" * 20
    assert concertina("data", "ls").out.splitlines()[1].split()[:3] == ["digits", "upload", "read"]
    assert concertina("data", "put", folder, "again").out.endswith("there already.\n")
    (folder / "more").write_text("more")
    assert concertina("data", "put", folder, "digits", "-o", "json").document["files"] == 4
    assert DataSnapshot.objects.count() == 2
    assert concertina("data", "rm", "digits").exit_code == 0
    assert [one.name for one in DataSource.objects.all()] == ["again"]
    assert concertina("data", "rm", "none").exit_code == 4
    assert concertina("data", "put", folder / "none", "digits").exit_code == 2
    assert concertina("data", "put", folder, "Wrong").exit_code == 3
