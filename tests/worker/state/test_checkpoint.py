"""The newest complete checkpoint wins; nothing torn is ever loaded."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from concertina_worker.checkpoint_files import CheckpointDescription
from concertina_worker.environment import CheckpointRules
from concertina_worker.state.checkpoints import checkpoint, written_file
from concertina_worker.state.checkpoints.writer import CheckpointWriter
from concertina_worker.state.training_state import CheckpointMismatchError


def content_of(step: int, *, size: int = 1000, start: int = 0) -> dict[str, Any]:
    model = OrderedDict(layer=torch.full((size,), float(step)))
    return {"step": step, "start": start, "model": model, "plain_names": {"layer": "layer"}}


def write(
    folder: Path, *steps: int, keep_last: int = 3, start: int = 0, epoch: int = 0
) -> list[Path]:
    return [
        checkpoint.write(
            folder,
            content_of(step, start=start),
            CheckpointDescription(step=step),
            keep_last=keep_last,
            start=start,
            epoch=epoch,
        )
        for step in steps
    ]


def states(folder: Path) -> list[str]:
    """Of the checkpoints that are there, each of which has its weights."""
    found = sorted(path.name for path in folder.glob("*.pt"))
    for name in found:
        assert list(folder.glob(f"{name.removesuffix('.pt')}.????????????????.safetensors"))
    return found


def newest_step(folder: Path) -> int | None:
    content = checkpoint.load_newest(folder)
    return content["step"] if content else None


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write(tmp_path, 5)
    content = checkpoint.load_newest(tmp_path)
    assert content is not None
    assert torch.equal(content["model"]["layer"], torch.full((1000,), 5.0))


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert newest_step(tmp_path / "nowhere") is None


@pytest.mark.parametrize("keep", [0, 1, 40, 1000], ids=lambda keep: f"{keep} bytes left")
def test_a_torn_checkpoint_is_skipped_for_the_one_before(
    tmp_path: Path, keep: int, caplog: pytest.LogCaptureFixture
) -> None:
    *_, newest = write(tmp_path, 5, 10)
    newest.write_bytes(newest.read_bytes()[:keep])
    assert newest_step(tmp_path) == 5
    assert "is skipped for the one before: it was not written to its end" in caplog.text


def test_a_torn_checkpoint_is_out_of_the_way_of_those_that_follow(tmp_path: Path) -> None:
    *_, newest = write(tmp_path, 900, 1000)
    newest.write_bytes(newest.read_bytes()[:-5])
    assert newest_step(tmp_path) == 900
    write(tmp_path, 950, keep_last=1)  # what was lost with the torn one is made again
    assert newest_step(tmp_path) == 950
    assert [path.name for path in tmp_path.glob("*.broken")] == ["step-000000001000.broken"]


def test_a_checkpoint_that_was_just_written_is_kept_beside_later_steps(tmp_path: Path) -> None:
    write(tmp_path, 1000)
    written = write(tmp_path, 950, keep_last=1)[0]
    assert written.exists()


class OfTheScript:
    """What an extra of a script may have in its state."""


def test_a_checkpoint_of_a_class_that_is_gone_is_refused_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = {**content_of(5), "extra": OfTheScript()}
    checkpoint.write(tmp_path, content, CheckpointDescription(step=5), keep_last=1)
    monkeypatch.delattr(f"{__name__}.OfTheScript")
    with pytest.raises(CheckpointMismatchError, match=r"step 5 .*OfTheScript"):
        checkpoint.load_newest(tmp_path)


def test_a_checkpoint_with_a_flipped_bit_is_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    *_, newest = write(tmp_path, 5, 10)
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 1
    newest.write_bytes(content)
    assert newest_step(tmp_path) == 5
    assert "is skipped for the one before: its checksum is wrong" in caplog.text


def test_a_file_that_was_being_written_is_no_checkpoint_and_is_tidied_up(tmp_path: Path) -> None:
    write(tmp_path, 5)
    leftover = tmp_path / ".step-000000000010.77.tmp"
    leftover.write_bytes(b"half")
    assert newest_step(tmp_path) == 5
    write(tmp_path, 15)
    assert leftover.exists()  # somebody may be writing it: workers of an older attempt are ending
    an_hour_ago = time.time() - 3600.0
    os.utime(leftover, (an_hour_ago, an_hour_ago))
    write(tmp_path, 25)
    assert not leftover.exists()


def test_what_a_restored_database_counts_is_newer_than_all_that_was_counted_before(
    tmp_path: Path,
) -> None:
    write(tmp_path, 900, 1000, start=3)  # of the time that the database has lost
    assert newest_step(tmp_path) == 1000  # as long as there is nothing else
    written = write(tmp_path, 400, 500, keep_last=2, start=2, epoch=1_763_834_000)
    assert newest_step(tmp_path) == 500
    assert states(tmp_path) == [path.name for path in written]


def test_the_first_of_an_epoch_leaves_those_before_it_as_long_as_they_are_among_the_last(
    tmp_path: Path,
) -> None:
    write(tmp_path, 900, 1000, start=3)
    (first,) = write(tmp_path, 400, keep_last=2, start=2, epoch=7)
    assert newest_step(tmp_path) == 400
    first.write_bytes(first.read_bytes()[:-5])
    assert newest_step(tmp_path) == 1000


def test_only_the_last_ones_are_kept(tmp_path: Path) -> None:
    write(tmp_path, 5, 10, 15, 20, keep_last=2)
    assert states(tmp_path) == [
        "step-000000000015.pt",
        "step-000000000020.pt",
    ]


def test_workers_of_an_earlier_start_neither_overwrite_nor_outlive_those_of_a_later_one(
    tmp_path: Path,
) -> None:
    """They may train on, on a node that nobody reaches, after the job has started elsewhere."""
    write(tmp_path, 100, start=1)
    ours = write(tmp_path, 110, 120, start=2, keep_last=2)
    write(tmp_path, 120, 900, start=1, keep_last=2)  # further, and of no use
    assert [path.exists() for path in ours] == [True, True]
    content = checkpoint.load_newest(tmp_path)
    assert content is not None
    assert (content["step"], content["start"]) == (120, 2)
    write(tmp_path, 130, start=10, keep_last=3)
    assert newest_step(tmp_path) == 130
    assert states(tmp_path) == [
        "step-000000000110.start-2.pt",
        "step-000000000120.start-2.pt",
        "step-000000000130.start-10.pt",
    ]


def test_a_writer_tells_when_a_checkpoint_is_complete(tmp_path: Path) -> None:
    written: list[int] = []
    rules = CheckpointRules(folder=tmp_path, interval_seconds=0.0, keep_last=2)
    writer = CheckpointWriter(rules, written.append)
    assert writer.is_due
    writer.write_in_background(content_of(5), CheckpointDescription(step=5))
    writer.wait()
    writer.write_now(content_of(5), CheckpointDescription(step=5))  # is there already
    writer.write_now(content_of(6), CheckpointDescription(step=6))
    assert written == [5, 6]
    assert newest_step(tmp_path) == 6


def test_a_folder_that_cannot_be_written_does_not_end_the_training(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    rules = CheckpointRules(folder=tmp_path / "file", interval_seconds=0.0, keep_last=2)
    written: list[int] = []
    CheckpointWriter(rules, written.append).write_now(content_of(5), CheckpointDescription(step=5))
    assert written == []


def test_a_checkpoint_that_cannot_be_read_is_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, 5)
    (tmp_path / "step-000000000010.pt").mkdir()
    assert newest_step(tmp_path) == 5
    assert "Is a directory" in caplog.text


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """The kernel refuses to let any file grow beyond this size, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_disk_without_room_costs_the_checkpoint_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rules = CheckpointRules(folder=tmp_path, interval_seconds=0.0, keep_last=2)
    written: list[int] = []
    writer = CheckpointWriter(rules, written.append)
    writer.write_now(content_of(5), CheckpointDescription(step=5))
    with room_for(100_000):
        writer.write_in_background(content_of(10, size=1_000_000), CheckpointDescription(step=10))
        writer.wait()
        writer.write_now(content_of(11, size=1_000_000), CheckpointDescription(step=11))
    assert "step 10 could not be written, the training goes on" in caplog.text
    assert "File too large" in caplog.text
    assert len(list(tmp_path.iterdir())) == 2
    assert states(tmp_path) == ["step-000000000005.pt"]
    writer.write_now(content_of(12), CheckpointDescription(step=12))
    assert written == [5, 12]
    assert newest_step(tmp_path) == 12


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left on device"):
        written_file.write_whole(Path("/dev/full"), partial(torch.save, torch.ones(1_000_000)))
    assert list(tmp_path.iterdir()) == []


def test_two_writers_do_not_disturb_each_other(tmp_path: Path) -> None:
    """As when the workers of an attempt that is over are still ending."""

    def write_many() -> None:
        for step in range(5, 30, 5):
            content = content_of(step, size=300_000)
            checkpoint.write(tmp_path, content, CheckpointDescription(step=step), keep_last=2)

    writers = [threading.Thread(target=write_many) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert newest_step(tmp_path) == 25
    assert len(states(tmp_path)) == 2
