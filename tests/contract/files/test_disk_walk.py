"""How much lies in a folder, whatever a job does to it?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cluster.files.disk_walk import DiskUsage, walk

ROOT = Path(__file__).parents[3]
MIB = 1 << 20
PATIENT = 90.0  # seconds; on a busy machine a walk of some files may wait for its turn
ORDINARY_USER = 65_534
WALK = """
import json, os, sys
from dataclasses import asdict
from pathlib import Path
from cluster.files.disk_walk import walk
if os.geteuid() == 0:  # only now: Python itself may be where nobody else may look
    user = int(sys.argv[2])
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
print(json.dumps(asdict(walk(Path(sys.argv[1]), most_files=1000, seconds=90))))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "job"
    made.mkdir()
    return made


def write(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        file.write(b"x" * size)
        file.flush()
        os.fsync(file.fileno())  # some file systems know only then what it takes
    return path


def found_in(folder: Path, *, most_files: int = 1000) -> DiskUsage:
    found = walk(folder, most_files=most_files, seconds=PATIENT)
    assert found is not None
    return found


def mebibytes(found: DiskUsage) -> int:
    """Whole ones: folders take a little, too."""
    return found.bytes_ // MIB


def test_files_and_folders_below_are_counted(folder: Path) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    write(folder / "a" / "one", 3 * MIB)
    write(folder / "a" / "b" / "two", 2 * MIB)
    found = found_in(folder)
    assert (mebibytes(found), found.files) == (5, 5)
    assert found.is_whole
    assert not found.is_closed


def test_what_takes_no_room_is_not_counted(folder: Path) -> None:
    with (folder / "hole").open("wb") as file:
        file.truncate(1 << 40)
    assert mebibytes(found_in(folder)) == 0


def test_a_file_with_two_names_is_counted_once(folder: Path) -> None:
    os.link(write(folder / "one", 4 * MIB), folder / "other")
    found = found_in(folder)
    assert (mebibytes(found), found.files) == (4, 3)


def test_no_link_leads_out_of_the_folder(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    write(outside / "large", 8 * MIB)
    (folder / "to-folder").symlink_to(outside)
    (folder / "to-file").symlink_to(outside / "large")
    found = found_in(folder)
    assert (mebibytes(found), found.files) == (0, 3)


def test_a_link_in_the_place_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    write(folder / "large", 8 * MIB)
    link = tmp_path / "link"
    link.symlink_to(folder)
    found = found_in(link)
    assert (mebibytes(found), found.files) == (0, 1)


@pytest.mark.parametrize("name", [b"two\nlines", b"\xff\xfe", b"closed", b"-delete", b"1 1"])
def test_a_name_is_never_taken_for_anything_else(folder: Path, name: bytes) -> None:
    write(folder / os.fsdecode(name), MIB)
    found = found_in(folder)
    assert (mebibytes(found), found.files, found.is_closed) == (1, 2, False)


@pytest.mark.parametrize(("levels", "is_closed"), [(199, False), (3000, True)])
def test_what_lies_too_deep_cannot_be_looked_into(
    folder: Path, levels: int, *, is_closed: bool
) -> None:
    """Deeper than a path may be long."""
    here = os.open(folder, os.O_DIRECTORY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    found = found_in(folder)
    assert (found.is_closed, found.is_whole) == (is_closed, True)
    assert found.files == min(levels, 200) + 1
    subprocess.run(("rm", "-r", "--", str(folder)), check=True)  # pytest itself cannot


def test_the_count_ends_when_there_are_too_many(folder: Path) -> None:
    for number in range(60):
        (folder / str(number)).touch()
    found = found_in(folder, most_files=50)
    assert found.files > 50
    assert not found.is_whole


def test_of_a_folder_that_is_not_there_nothing_is_known(tmp_path: Path) -> None:
    assert walk(tmp_path / "nowhere", most_files=1000, seconds=PATIENT) is None


def test_nobody_waits_longer_than_he_said(folder: Path) -> None:
    assert walk(folder, most_files=1000, seconds=0.0) is None


def test_who_shuts_a_folder_to_himself_is_noticed(open_folder: Path) -> None:
    """As an ordinary user, whom a mode keeps out; the rest is counted."""
    assert as_ordinary_user(open_folder)["is_closed"] is False
    shut = open_folder / "shut"
    shut.mkdir()
    write(shut / "unseen", MIB)
    write(open_folder / "seen", 2 * MIB)
    give_away(shut)
    shut.chmod(0o300)
    told = as_ordinary_user(open_folder)
    assert told["is_closed"] is True
    assert told["bytes_"] // MIB == 2


def test_a_folder_of_somebody_else_is_no_closed_one(open_folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can have a folder that others may not enter, and be another")
    (open_folder / "private").mkdir(mode=0o700)
    told = as_ordinary_user(open_folder)
    assert (told["is_closed"], told["is_whole"]) == (False, False)


def give_away(folder: Path) -> None:
    if os.geteuid() == 0:
        os.chown(folder, ORDINARY_USER, ORDINARY_USER)


def as_ordinary_user(folder: Path) -> dict[str, Any]:
    """What such a user finds there."""
    ran = subprocess.run(
        (sys.executable, "-c", WALK, str(folder), str(ORDINARY_USER)),
        env={**os.environ, "PYTHONPATH": str(ROOT / "platform"), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    told: dict[str, Any] = json.loads(ran.stdout)
    return told
