"""How do rows get from those who have them to those who shall? In rounds of bounded size.

In each round every worker gives the next few megabytes of what it has to those who shall have them:
all at once, so that each line is used. What has been given is dropped, and room is made as rows
arrive: so a worker holds at most the larger of what it had and what it will have, one tensor and
two rounds more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import torch

from concertina_worker.sharding.rows import RowOwners, RowStretch, TensorRows, common, rounds

ROUND_BYTES: Final = 16 * 2**20  # guessed: smaller costs latency, larger costs memory

AllToAll = Callable[[torch.Tensor, torch.Tensor, list[int], list[int]], None]
"""Given room, what is sent, and how many bytes come from and go to each worker."""


@dataclass(slots=True, kw_only=True)
class MovingTensor:
    """A tensor on its way from some owners to others, as one worker sees it."""

    shape: torch.Size  # of all of it
    dtype: torch.dtype
    held: torch.Tensor | None = None  # the rows that this worker has had so far
    taken: torch.Tensor | None = None  # those that it has from now on

    @property
    def row_bytes(self) -> int:
        return self.shape[1:].numel() * self.dtype.itemsize


@dataclass(frozen=True, slots=True, kw_only=True)
class RowExchange:
    """All who give or take, and how they reach each other."""

    me: str
    everyone: tuple[str, ...]
    before: RowOwners
    after: RowOwners
    device: torch.device  # of the rows
    all_to_all: AllToAll

    def move(self, tensors: Sequence[MovingTensor]) -> Iterator[MovingTensor]:
        """Yield each tensor, in order, as soon as it has been moved.

        All who are in `everyone` must go through the same tensors. Raises GroupLostError.
        """
        sizes = [self._each(tensor) for tensor in tensors]
        givers = -(-len(self.before.names) // len(self.after.names)) + 1  # of one taker, at most
        done = 0
        for stretches in rounds(sizes, most_bytes=ROUND_BYTES // givers):
            self._exchange(tensors, stretches)
            whole = stretches[-1].tensor + (stretches[-1].rows.stop == _rows_of(stretches, sizes))
            while done < whole:
                yield self._finished(tensors[done])
                done += 1
        while done < len(tensors):
            yield self._finished(tensors[done])
            done += 1

    def _each(self, tensor: MovingTensor) -> TensorRows:
        """What each giver has of a tensor, or less."""
        rows = -(-tensor.shape[0] // len(self.before.names))
        return TensorRows(rows=rows, row_bytes=tensor.row_bytes)

    def _rows_between(self, shape: torch.Size, stretch: RowStretch, *who: str) -> range:
        """Return which rows of this round go from the first of these two to the second."""
        giver, taker = who
        theirs = self.before.rows_of(giver, shape[0])
        now = range(theirs.start + stretch.rows.start, theirs.start + stretch.rows.stop)
        return common(common(theirs, now), self.after.rows_of(taker, shape[0]))

    def _finished(self, tensor: MovingTensor) -> MovingTensor:
        """Drop what was given; one without rows for this worker is empty."""
        tensor.held = None
        self._make_room(tensor)
        return tensor

    def _exchange(self, tensors: Sequence[MovingTensor], stretches: list[RowStretch]) -> None:
        given = [self._given(tensors, stretches, name) for name in self.everyone]
        sizes = [sum(piece.numel() for piece in pieces) for pieces in given]
        taken = [self._taken(tensors, stretches, name) for name in self.everyone]
        wanted = [sum(piece.nbytes for piece in pieces) for pieces in taken]
        pieces = [piece for one in given for piece in one]
        sent = torch.cat(pieces) if pieces else torch.empty(0, dtype=torch.uint8)
        received = torch.empty(sum(wanted), dtype=torch.uint8)
        self.all_to_all(received, sent, wanted, sizes)
        rooms = [room for one in taken for room in one]
        arrived = torch.split(received, [room.nbytes for room in rooms]) if rooms else ()
        for room, values in zip(rooms, arrived, strict=True):
            room.copy_(values.view(room.dtype).view(room.shape))

    def _given(
        self, tensors: Sequence[MovingTensor], stretches: list[RowStretch], taker: str
    ) -> list[torch.Tensor]:
        found = []
        for stretch in stretches:
            tensor = tensors[stretch.tensor]
            own = self.before.rows_of(self.me, tensor.shape[0])
            rows = self._rows_between(tensor.shape, stretch, self.me, taker)
            if rows and tensor.held is not None:
                part = tensor.held[rows.start - own.start : rows.stop - own.start]
                found.append(part.contiguous().cpu().reshape(-1).view(torch.uint8))
        return found

    def _taken(
        self, tensors: Sequence[MovingTensor], stretches: list[RowStretch], giver: str
    ) -> list[torch.Tensor]:
        found = []
        for stretch in stretches:
            tensor = tensors[stretch.tensor]
            own = self.after.rows_of(self.me, tensor.shape[0])
            rows = self._rows_between(tensor.shape, stretch, giver, self.me)
            if rows:
                room = self._make_room(tensor)
                found.append(room[rows.start - own.start : rows.stop - own.start])
        return found

    def _make_room(self, tensor: MovingTensor) -> torch.Tensor:
        if tensor.taken is None:
            rows = len(self.after.rows_of(self.me, tensor.shape[0]))
            shape = (rows, *tensor.shape[1:])
            tensor.taken = torch.empty(shape, dtype=tensor.dtype, device=self.device)
        return tensor.taken


def _rows_of(stretches: list[RowStretch], sizes: Sequence[TensorRows]) -> int:
    return sizes[stretches[-1].tensor].rows
