"""Does an archive become a closed folder, and is everything else refused without a trace?"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from storage.code.archives import remove, unpack
from storage.code.bounds import CodeBounds
from storage.errors import SnapshotInvalid

from tests.service.code.packed import Packed, member, of_bytes, packed

BOUNDS = CodeBounds(most_bytes=10_000, most_files=10)


def unpacked(given: Packed, tmp_path: Path, bounds: CodeBounds = BOUNDS) -> Path:
    archive, into = tmp_path / "archive", tmp_path / "into"
    archive.write_bytes(given.archive)
    contents = unpack(archive, into, bounds)
    assert contents.digest == given.digest
    return into


def test_files_folders_programs_and_links_come_out_closed(tmp_path: Path) -> None:
    link = member("pkg/here", type=tarfile.SYMTYPE, linkname="../train.py")
    folder = member("empty/", type=tarfile.DIRTYPE)
    program = member("bin/run", b"#!/bin/sh", mode=0o755)
    into = unpacked(packed([member("train.py", b"x = 1"), link, folder, program]), tmp_path)
    assert (into / "pkg" / "here").read_text() == "x = 1"
    assert (into / "empty").is_dir()
    modes = {path.name: path.stat().st_mode & 0o777 for path in sorted(into.rglob("*"))}
    assert modes == {
        "bin": 0o555,
        "empty": 0o555,
        "here": 0o444,
        "pkg": 0o555,
        "run": 0o555,
        "train.py": 0o444,
    }
    remove(into)
    assert not into.exists()


LINK = {"type": tarfile.SYMTYPE}
REFUSED: dict[str, tuple[list[tuple[tarfile.TarInfo, bytes]], str]] = {
    "an absolute name": ([member("/etc/x", b"a")], "not a name within"),
    "a name that leads out": ([member("a/../../x", b"a")], "not a name within"),
    "a name of dots": ([member("./x", b"a")], "not a name within"),
    "a name that is too long": ([member("a" * 2000, b"a")], "too long or too deep"),
    "a name that is too deep": ([member("a/" * 60 + "x", b"a")], "too long or too deep"),
    "a link that leads out": ([member("x", linkname="../y", **LINK)], "not in the archive"),
    "an absolute link": ([member("x", linkname="/etc/passwd", **LINK)], "not in the archive"),
    "a file through a link": (
        [member("x", linkname="y", **LINK), member("x/z", b"a")],
        "twice",
    ),
    "a hard link": (
        [member("y", b"a"), member("x", type=tarfile.LNKTYPE, linkname="y")],
        "neither a file",
    ),
    "a device": ([member("x", type=tarfile.CHRTYPE)], "neither a file"),
    "a pipe": ([member("x", type=tarfile.FIFOTYPE)], "neither a file"),
    "a name given twice": ([member("x", b"a"), member("x", b"b")], "twice"),
    "a folder that is a file": ([member("x", b"a"), member("x/y", b"b")], "twice"),
    "too many files": ([member(f"x{n}", b"") for n in range(11)], "more than 10 files"),
    "too many bytes": ([member("x", b"a" * 10_001)], "have more than"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_no_plain_folder_is_refused_and_leaves_nothing(
    tmp_path: Path, sentence: str
) -> None:
    members, problem = REFUSED[sentence]
    with pytest.raises(SnapshotInvalid, match=problem):
        unpacked(packed(members), tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / "archive"]


@pytest.mark.parametrize(
    "archive", [b"", b"no archive at all", b"\x1f\x8b\x08\x00broken", packed([]).archive[:20]]
)
def test_what_is_no_archive_is_refused(tmp_path: Path, archive: bytes) -> None:
    with pytest.raises(SnapshotInvalid, match="broken"):
        unpacked(Packed(archive=archive, digest=""), tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / "archive"]


def test_an_archive_that_grows_without_end_is_given_up(tmp_path: Path) -> None:
    """A thousand zeros take one byte; nobody reads more of them than a snapshot may have."""
    plain = packed([member("x", b"a")])
    bomb = of_bytes(b"\0" * 10_000_000)
    assert len(bomb.archive) < 20_000
    assert plain.archive
    with pytest.raises(SnapshotInvalid, match="larger unpacked"):
        unpacked(bomb, tmp_path)
