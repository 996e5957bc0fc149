"""The newest complete checkpoint wins; nothing torn is ever loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from concertina_worker.environment import CheckpointRules
from concertina_worker.state import checkpoint
from concertina_worker.state.checkpoint import CheckpointWriter


def write(folder: Path, *steps: int, keep_last: int = 3) -> list[Path]:
    return [
        checkpoint.write(
            folder, step, {"step": step, "weights": torch.full((1000,), step)}, keep_last=keep_last
        )
        for step in steps
    ]


def newest_step(folder: Path) -> int | None:
    content = checkpoint.load_newest(folder)
    return content["step"] if content else None


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write(tmp_path, 5)
    content = checkpoint.load_newest(tmp_path)
    assert content is not None
    assert torch.equal(content["weights"], torch.full((1000,), 5))


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert newest_step(tmp_path / "nowhere") is None


@pytest.mark.parametrize("keep", [0, 1, 40, 2000], ids=lambda keep: f"{keep} bytes left")
def test_a_torn_checkpoint_is_skipped_for_the_one_before(tmp_path: Path, keep: int) -> None:
    *_, newest = write(tmp_path, 5, 10)
    newest.write_bytes(newest.read_bytes()[:keep])
    assert newest_step(tmp_path) == 5


def test_a_checkpoint_with_a_flipped_bit_is_skipped(tmp_path: Path) -> None:
    *_, newest = write(tmp_path, 5, 10)
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 1
    newest.write_bytes(content)
    assert newest_step(tmp_path) == 5


def test_a_file_that_was_being_written_is_no_checkpoint_and_is_tidied_up(tmp_path: Path) -> None:
    write(tmp_path, 5)
    leftover = tmp_path / ".step-000000000010.77.tmp"
    leftover.write_bytes(b"half")
    assert newest_step(tmp_path) == 5
    write(tmp_path, 15)
    assert not leftover.exists()


def test_only_the_last_ones_are_kept(tmp_path: Path) -> None:
    write(tmp_path, 5, 10, 15, 20, keep_last=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "step-000000000015.pt",
        "step-000000000020.pt",
    ]


def test_a_writer_tells_when_a_checkpoint_is_complete(tmp_path: Path) -> None:
    written: list[int] = []
    rules = CheckpointRules(folder=tmp_path, interval_seconds=0.0, keep_last=2)
    writer = CheckpointWriter(rules, written.append)
    assert writer.is_due
    writer.write_in_background(5, {"step": 5})
    writer.wait()
    writer.write_now(5, {"step": 5})  # is there already
    writer.write_now(6, {"step": 6})
    assert written == [5, 6]
    assert newest_step(tmp_path) == 6


def test_a_folder_that_cannot_be_written_does_not_end_the_training(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    rules = CheckpointRules(folder=tmp_path / "file", interval_seconds=0.0, keep_last=2)
    written: list[int] = []
    CheckpointWriter(rules, written.append).write_now(5, {"step": 5})
    assert written == []
