"""Does an archive become a closed folder, and is everything else refused without a trace?"""

from __future__ import annotations

import gzip
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from storage.code.archives import unpack
from storage.code.bounds import CodeBounds
from storage.errors import SnapshotInvalid
from storage.uploads.closed import remove

from tests.campaigns import examples
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
    "a link that leads out through another": (
        [member("a/b/c", linkname="../..", **LINK), member("x", linkname="a/b/c/../..", **LINK)],
        "not in the archive",
    ),
    "too many folders": ([member("a/" * 11 + "x")], "more than 10 folders"),
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


def header(kind: bytes, size: int) -> bytes:
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


HEADERS: dict[str, tuple[bytes, str]] = {
    "a long name that takes megabytes": (header(b"L", 9_000_000), "too long"),
    "a pax header that takes megabytes": (header(b"x", 9_000_000), "too long"),
    "a header for all that takes megabytes": (header(b"g", 9_000_000), "too long"),
    "holes": (header(b"S", 10), "has holes"),
    "holes of a newer kind": (
        header(b"x", 55)
        + b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n".ljust(512, b"\0")
        + header(b"0", 512),
        "has holes",
    ),
    "headers of headers of headers": (
        (header(b"x", 11) + b"11 path=ab\n".ljust(512, b"\0")) * 2000,
        "broken",
    ),
    "a size that is no number": (
        header(b"0", 0)[:124] + b"z" * 12 + header(b"0", 0)[136:],
        "broken",
    ),
}


@pytest.mark.parametrize("sentence", HEADERS)
def test_a_header_that_would_take_memory_or_time_is_refused(tmp_path: Path, sentence: str) -> None:
    plain, problem = HEADERS[sentence]
    with pytest.raises(SnapshotInvalid, match=problem):
        unpacked(of_bytes(plain), tmp_path, CodeBounds())
    assert list(tmp_path.iterdir()) == [tmp_path / "archive"]


@given(st.data())
@examples(150)
def test_no_bytes_do_anything_but_being_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever is written over an archive that was good."""
    good = packed([member("a/b.py", b"x" * 600), member("l", linkname="a", **LINK)])
    plain = bytearray(gzip.decompress(good.archive))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, 2500))
        new = data.draw(st.binary(min_size=1, max_size=12))
        plain[at : at + len(new)] = new
    folder = tmp_path_factory.mktemp("mutated")
    try:
        into = unpacked(of_bytes(bytes(plain)), folder)
    except SnapshotInvalid:
        assert list(folder.iterdir()) == [folder / "archive"]
    else:
        assert all(path.resolve().is_relative_to(into) for path in into.rglob("*"))


def test_an_archive_that_grows_without_end_is_given_up(tmp_path: Path) -> None:
    """A thousand zeros take one byte; nobody reads more of them than a snapshot may have."""
    plain = packed([member("x", b"a")])
    bomb = of_bytes(b"\0" * 10_000_000)
    assert len(bomb.archive) < 20_000
    assert plain.archive
    with pytest.raises(SnapshotInvalid, match="larger unpacked"):
        unpacked(bomb, tmp_path)
