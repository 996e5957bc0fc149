"""A checkpoint that all write is there when all have written it, and is skipped when broken."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

import pytest
import torch

from concertina_worker.checkpoint_files import CheckpointDescription, CheckpointName
from concertina_worker.environment import CheckpointRules
from concertina_worker.sharding.rows import RowOwners
from concertina_worker.state.checkpoints import checkpoint, in_parts
from concertina_worker.state.checkpoints.row_file import RowFile
from concertina_worker.state.parts import HeldParts, HeldRows
from concertina_worker.state.training_state import CheckpointMismatchError

WHOLE = torch.arange(7.0)


def held_by(rank: int, size: int) -> HeldParts:
    own = RowOwners(tuple(map(str, range(size)))).rows_of(str(rank), len(WHOLE))
    rows = HeldRows(
        name="one", shape=WHOLE.shape, first_row=own.start, rows=WHOLE[own.start : own.stop]
    )
    return HeldParts(weights=[rows], optimizers=[rows], small={"step": 3})


def writer_of(folder: Path, step: int, rank: int, *, keep_last: int = 2) -> in_parts.PartWriter:
    return in_parts.PartWriter(
        rules=CheckpointRules(folder=folder, interval_seconds=1.0, keep_last=keep_last),
        description=CheckpointDescription(step=step),
        generation=4,
        rank=rank,
        size=2,
    )


def write(folder: Path, step: int, *, ranks: tuple[int, ...] = (1, 0), keep_last: int = 2) -> bool:
    """Write the parts of these of two workers; returns whether the main one knows it complete."""
    found = False
    for rank in ranks:
        writer = writer_of(folder, step, rank, keep_last=keep_last)
        found |= writer.write(held_by(rank, 2), {"step": step}, lambda: len(ranks) < 2)
    return found


def names(folder: Path, pattern: str) -> list[int]:
    return sorted(int(path.name[5:17]) for path in folder.glob(pattern))


def test_it_is_there_once_all_have_written_their_parts(tmp_path: Path) -> None:
    assert not write(tmp_path, 1, ranks=(1,))
    assert in_parts.load_newest(tmp_path) is None
    assert write(tmp_path, 1, ranks=(1, 0))
    newest = in_parts.load_newest(tmp_path)
    assert newest is not None
    content, kept = newest
    assert (content["step"], content["small"]) == (1, {"step": 3})
    for path in (kept.weights, kept.optimizers):
        assert path is not None
        assert torch.equal(checkpoint.weights.read(path)["one"], WHOLE)
    assert not [*tmp_path.glob(".*")]


def test_one_of_which_a_part_is_missing_is_given_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, 1)
    with caplog.at_level(logging.WARNING):
        assert not write(tmp_path, 2, ranks=(0,))
    assert "step 2 was given up" in caplog.text
    assert not [*tmp_path.glob(".*")]
    newest = in_parts.load_newest(tmp_path)
    assert newest is not None
    assert newest[0]["step"] == 1


@pytest.mark.parametrize("full", [0, 1], ids=["main", "another"])
def test_where_the_disk_is_full_nobody_waits_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: int
) -> None:
    """Else each attempt would leave files as large as the model, and the disk full for good."""

    def refuse(file: RowFile, held: object) -> None:
        file.path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(RowFile, "write", refuse)
        with pytest.raises(OSError, match="No space left"):
            writer_of(tmp_path, 1, full).write(held_by(full, 2), {}, lambda: False)
    if full == 1:
        assert not writer_of(tmp_path, 1, 0).write(held_by(0, 2), {}, lambda: False)
    assert not [*tmp_path.iterdir()]


def test_weights_whose_state_finds_no_space_go_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoint, "write_state", refuse)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path, 1)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("kind", ["moments", "safetensors", "pt"])
def test_one_that_the_disk_changed_is_skipped_for_the_one_before(tmp_path: Path, kind: str) -> None:
    write(tmp_path, 1)
    write(tmp_path, 2)
    path = next(tmp_path.glob(f"{CheckpointName(step=2).stem}*.{kind}"))
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    newest = in_parts.load_newest(tmp_path)
    assert newest is not None
    assert newest[0]["step"] == 1
    assert names(tmp_path, "*.broken") == [2]


def test_old_ones_go_with_all_their_files(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        write(tmp_path, step)
    for kind in ("pt", "safetensors", "moments"):
        assert names(tmp_path, f"step-*.{kind}") == [2, 3]


def test_a_script_that_shards_no_longer_is_told_why_it_does_not_fit(tmp_path: Path) -> None:
    write(tmp_path, 1)
    with pytest.raises(CheckpointMismatchError, match="written in parts"):
        checkpoint.load_newest(tmp_path)
