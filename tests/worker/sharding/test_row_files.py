"""Many write one file of tensors, and as many as there are later read it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from concertina_worker.sharding.rows import RowOwners
from concertina_worker.state.checkpoints import weights
from concertina_worker.state.checkpoints.row_file import RowFile
from concertina_worker.state.checkpoints.written_file import BrokenCheckpointError
from concertina_worker.state.parts import HeldRows

WHOLE = {
    "seven": torch.rand(7, 3),
    "one": torch.rand(1, 5, 2, dtype=torch.float64),
    "narrow": torch.rand(4).to(torch.bfloat16),
}


def write(path: Path, workers: str) -> None:
    owners = RowOwners(tuple(workers))
    for worker in reversed(workers):  # whoever is first
        rows = {name: owners.rows_of(worker, len(one)) for name, one in WHOLE.items()}
        held = [
            HeldRows(
                name=name,
                shape=one.shape,
                first_row=rows[name].start,
                rows=one[rows[name].start : rows[name].stop],
            )
            for name, one in WHOLE.items()
        ]
        RowFile.for_writing(path, held, {"format": "pt"}).write(held)


@pytest.mark.parametrize("workers", ["a", "ab", "abcde"])
def test_a_file_is_the_same_however_many_write_it(tmp_path: Path, workers: str) -> None:
    path = tmp_path / "together"
    write(path, workers)
    found = weights.read(path)
    assert {*found} == {*WHOLE}
    assert all(torch.equal(found[name], one) for name, one in WHOLE.items())


def test_each_reads_rows_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "file", "ab")
    file = RowFile.for_reading(tmp_path / "file")
    for worker in "xyz":
        for name, one in WHOLE.items():
            own = RowOwners(tuple("xyz")).rows_of(worker, len(one))
            assert torch.equal(file.read(name, own), one[own.start : own.stop])


def test_a_file_that_is_cut_off_or_another_is_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write(path, "ab")
    path.write_bytes(path.read_bytes()[:-8])
    file = RowFile.for_reading(path)
    with pytest.raises(BrokenCheckpointError, match="cut off"):
        [file.read(name, range(len(one))) for name, one in WHOLE.items()]
    path.write_bytes(b"something else")
    with pytest.raises(BrokenCheckpointError):
        RowFile.for_reading(path)
