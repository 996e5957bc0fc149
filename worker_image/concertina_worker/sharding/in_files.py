"""Which rows does a worker write into the files of a checkpoint, and read from them? Its own.

Files have parameters by the names by which models expect them: a shared one under each of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from concertina_worker.device.host_copy import copied
from concertina_worker.sharding.holding import HeldTensors, Small, TensorKey, rows_in
from concertina_worker.state.checkpoints.row_file import RowFile
from concertina_worker.state.parts import HeldParts, HeldRows, KeptRows
from concertina_worker.state.plain_names import check_fit, plain_names, skipped_names

_MAIN = 0  # rank


class RowsInFiles:
    """What one worker holds, as far as it is kept."""

    def __init__(self, holding: HeldTensors, device: torch.device) -> None:
        self._holding = holding
        self._model = holding.model
        self._device = device
        self._plain = plain_names(holding.model.model)

    def hold(self) -> HeldParts:
        """Return a copy on the host."""
        weights, optimizers = list[HeldRows](), list[HeldRows]()
        parameters = self._model.parameters()
        for name, in_file in self._parameters():
            weights.append(self._held(in_file, parameters[name]))
        for key, tensor in self._holding.tensors():
            if key.state:
                optimizers.append(self._held(key.text, tensor))
        for in_file, buffer in self._buffers():
            rows = copied(buffer if buffer.dim() else buffer.reshape(1))
            mine = rows if self._holding.place[0] == _MAIN else rows[:0]
            weights.append(HeldRows(name=in_file, shape=buffer.shape, first_row=0, rows=mine))
        small = copied(self._holding.small())
        return HeldParts(weights=weights, optimizers=optimizers, small=small)

    def read(self, kept: KeptRows, small: Small) -> None:
        """Have what is this worker's.

        Raises:
            OSError, BrokenCheckpointError: it cannot be read.
            WeightsMismatchError: it is of another model.
        """
        self._read_weights(kept)
        self._holding.settle({})
        if kept.optimizers is None:
            return
        moments = RowFile.for_reading(kept.optimizers)
        for number, name in self._holding.optimized():
            for state in moments.names_after(f"{number}/{name}/"):
                self._read(moments, TensorKey(name, number, state))
        self._holding.settle(small)

    def _read_weights(self, kept: KeptRows) -> None:
        file = RowFile.for_reading(kept.weights)
        buffers = dict(self._buffers())
        own = {in_file: self._model.whole(name) for name, in_file in self._parameters()}
        fitting, given = {**own, **buffers}, dict(file.tensors)
        skipped = skipped_names(kept.skip, {*fitting, *given})
        for name in skipped:
            fitting.pop(name, None)
            given.pop(name, None)
        check_fit(fitting, given)
        for name, in_file in self._parameters():
            if in_file not in skipped:
                self._read(file, TensorKey(name), in_file)
        for in_file, buffer in buffers.items():
            if in_file not in skipped:
                rows = range(buffer.shape[0] if buffer.dim() else 1)
                buffer.copy_(file.read(in_file, rows).view(buffer.shape))

    def _read(self, file: RowFile, key: TensorKey, name: str = "") -> None:
        shape = file.tensors[name or key.text].shape
        rows = file.read(name or key.text, self._holding.own_rows(shape))
        self._holding.put(key, rows.to(self._device), shape)

    def _held(self, name: str, tensor: torch.Tensor) -> HeldRows:
        first = self._holding.own_rows(tensor.shape).start
        rows = copied(rows_in(tensor))
        return HeldRows(name=name, shape=tensor.shape, first_row=first, rows=rows)

    def _parameters(self) -> Iterator[tuple[str, str]]:
        """Yield each parameter with every name that it has in files."""
        for name in self._model.names:
            yield from ((name, self._plain[one]) for one in self._model.aliases(name))

    def _buffers(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield those that belong to the state of the model, by their names in files."""
        for name, buffer in self._model.model.named_buffers():
            if name in self._plain:
                yield self._plain[name], buffer
