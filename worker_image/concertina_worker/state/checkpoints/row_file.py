"""How do many write one file of tensors, and read it again, each its own rows?

The file is that of `weights`, whoever writes it: where each tensor lies follows from the shapes of
all, and the rows of one lie one after the other. So each worker puts its own where they belong, and
none ever has more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from concertina_worker.state.checkpoints import weights
from concertina_worker.state.checkpoints.written_file import BrokenCheckpointError
from concertina_worker.state.parts import HeldRows


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFile:
    """A file of tensors, of which some rows are read or written."""

    path: Path
    tensors: Mapping[str, torch.Tensor]  # without values
    begins: Mapping[str, int]  # at which byte
    header: bytes = b""

    @classmethod
    def for_writing(cls, path: Path, held: Sequence[HeldRows], about: Mapping[str, str]) -> RowFile:
        """Lay out a file; all who write it say the same shapes."""
        tensors = {
            one.name: torch.empty(one.shape, dtype=one.rows.dtype, device="meta") for one in held
        }
        header, begins = weights.header_of(tensors, about)
        return cls(path=path, tensors=tensors, begins=begins, header=header)

    @classmethod
    def for_reading(cls, path: Path) -> RowFile:
        """Raises: OSError, BrokenCheckpointError."""
        tensors, begins = weights.tensors_in(path)
        return cls(path=path, tensors=tensors, begins=begins)

    def write(self, held: Sequence[HeldRows]) -> None:
        """Put these rows where they belong; returns when they would survive a power cut."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        with os.fdopen(descriptor, "r+b") as file:
            file.write(self.header)
            for one in held:
                if one.rows.numel():
                    file.seek(self.begins[one.name] + one.first_row * self._row_bytes(one.name))
                    file.write(one.rows.contiguous().reshape(-1).view(torch.uint8).numpy().data)
            file.flush()
            os.fsync(file.fileno())

    def read(self, name: str, rows: range) -> torch.Tensor:
        """Read some rows; a number alone is one row.

        Raises:
            OSError: they cannot be read.
            BrokenCheckpointError: they are not all there.
        """
        tensor = self.tensors[name]
        size = len(rows) * self._row_bytes(name)
        values = torch.empty((len(rows), *tensor.shape[1:]), dtype=tensor.dtype)
        if not size:
            return values
        with self.path.open("rb") as file:
            file.seek(self.begins[name] + rows.start * self._row_bytes(name))
            if file.readinto(values.reshape(-1).view(torch.uint8).numpy().data) != size:
                raise BrokenCheckpointError("a tensor is cut off")
        return values

    def names_after(self, prefix: str) -> Iterator[str]:
        """Yield what follows this at the beginning of a name."""
        return (name.removeprefix(prefix) for name in self.tensors if name.startswith(prefix))

    def _row_bytes(self, name: str) -> int:
        tensor = self.tensors[name]
        return tensor.shape[1:].numel() * tensor.element_size()
