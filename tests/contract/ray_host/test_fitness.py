"""What keeps jobs from running on a node of a Ray cluster is told in words that say what to do."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest
from cluster.ray_host import fitness, shared_state

_LETS_LIE: Final = """
import ctypes
from cluster.ray_host import fitness
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
print(fitness.is_reaped(seconds=0.2))
"""
STATE_MOUNT: Final = "host:/export {folder} nfs4 rw 0 0\n"


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """One that has none of what workers need."""
    path = tmp_path / "python"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -S -P "$@"\n')
    path.chmod(0o755)
    return path


def test_a_node_with_all_that_is_needed_is_fit(tmp_path: Path, state_dir: Path) -> None:
    word = shared_state.word_of(state_dir)
    folder = tmp_path / "node" / "n1"
    python = sys.executable
    assert fitness.why_unfit(folder=folder, state_dir=state_dir, word=word, python=python) == ""
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_services_word_is_made_once(state_dir: Path) -> None:
    word = shared_state.word_of(state_dir)
    assert len(word) == 16
    assert shared_state.word_of(state_dir) == word
    assert shared_state.why_not(state_dir, word) == ""


def test_a_state_folder_that_is_not_the_services_is_told(state_dir: Path, tmp_path: Path) -> None:
    word = shared_state.word_of(state_dir)
    other = tmp_path / "other"
    assert "is not the service's here: mount" in shared_state.why_not(other, word)
    shared_state.word_of(other)
    assert f"{other} is another one here" in shared_state.why_not(other, word)


def test_a_state_folder_that_cannot_be_read_is_told(state_dir: Path) -> None:
    word = shared_state.word_of(state_dir)
    (state_dir / "ray" / "word.json").write_text("{")
    assert shared_state.why_not(state_dir, word) != ""
    (state_dir / "ray" / "word.json").unlink()
    (state_dir / "ray" / "word.json").mkdir()
    assert "cannot be read here" in shared_state.why_not(state_dir, word)


def test_a_folder_for_records_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be written to" in fitness.why_no_records(tmp_path / "file" / "n1")


def test_a_trial_of_a_folder_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "n1").mkdir()
    (tmp_path / "other").write_text("mine")
    (tmp_path / "n1" / ".trial").symlink_to(tmp_path / "other")
    assert fitness.why_no_records(tmp_path / "n1") == ""
    assert (tmp_path / "other").read_text() == "mine"
    assert [one.name for one in (tmp_path / "n1").iterdir()] == [".trial"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_for_records_that_is_somebody_elses_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "n1"
    folder.mkdir()
    os.chown(folder, 4321, 4321)
    assert "belongs to user 4321" in fitness.why_no_records(folder)


@pytest.mark.parametrize("place", ["n 1", ""])
def test_a_folder_for_records_on_a_shared_file_system_is_told(tmp_path: Path, place: str) -> None:
    folder = tmp_path / place / "n1"
    mounted = str(tmp_path / place).replace(" ", "\\040")
    mounts = f"/dev/sda / ext4 rw 0 0\n{STATE_MOUNT.format(folder=mounted)}"
    assert "is on nfs4" in fitness.why_no_records(folder, mounts=lambda: mounts)
    local = f"{mounts}/dev/sdb {mounted} xfs rw 0 0\n"
    assert fitness.why_no_records(folder, mounts=lambda: local) == ""


def test_an_interpreter_that_is_not_there_or_does_not_work_is_told() -> None:
    assert "cannot be started here" in fitness.why_no_python("/no/such/python")
    assert "does not work here" in fitness.why_no_python("/bin/false")


def test_an_interpreter_without_torch_and_runtime_is_told(bare_python: Path) -> None:
    told = fitness.why_no_python(str(bare_python))
    assert "has not PyTorch and not the worker runtime" in told


def told(*, service_time: float, is_reaped: bool = True) -> list[str]:
    return list(
        fitness.complaints(service_time=service_time, are_orphans_collected=lambda: is_reaped)
    )


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> float:
    """A time that stands, however long a busy machine takes."""
    now = 1_800_000_000.0
    monkeypatch.setattr(fitness, "time", SimpleNamespace(time=lambda: now))
    return now


def test_clocks_that_are_apart_are_a_complaint_and_no_more(now: float) -> None:
    assert told(service_time=now - 2) == []
    (ahead,) = told(service_time=now - 50)
    assert "50 s ahead of" in ahead
    (behind,) = told(service_time=now + 50)
    assert "50 s behind" in behind


def test_a_first_process_that_collects_nobody_is_a_complaint(now: float) -> None:
    (complaint,) = told(service_time=now, is_reaped=False)
    assert "tini" in complaint


def test_whether_orphans_are_collected_is_tried() -> None:
    """Those of one that takes them over, as a machine's first process does, and lets them lie."""
    ran = subprocess.run(
        (sys.executable, "-c", _LETS_LIE), capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"


LISTING: Final = "".join(f"GPU {n}: NVIDIA H100 (UUID: GPU-{n})\n" for n in range(4))


@pytest.mark.parametrize(
    ("wanted", "given", "listing"),
    [(4, None, LISTING), (4, "0,1,2,3", LISTING), (2, "GPU-3,1", LISTING), (8, "0,1", "")],
)
def test_gpus_on_whose_number_all_agree_are_fit(
    wanted: int, given: str | None, listing: str
) -> None:
    assert fitness.why_gpus_differ(wanted=wanted, in_ray=8, listing=listing, given=given) == ""


def test_where_pool_ray_and_driver_disagree_all_numbers_are_told() -> None:
    said = fitness.why_gpus_differ(wanted=8, in_ray=8, listing=LISTING, given="0,1,2,3,4,5,6,7")
    assert said.startswith(
        "it is to have 8 GPUs; Ray says 8 there and gave us CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7;"
        " NVIDIA's driver lists 4, and 4 of those that we were given."
    )
    hides_none = fitness.why_gpus_differ(wanted=2, in_ray=4, listing=LISTING, given=None)
    assert "gave us all of them; NVIDIA's driver lists 4, and 4 of" in hides_none
