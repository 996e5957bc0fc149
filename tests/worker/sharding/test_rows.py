"""Rows change hands: each once, in rounds of bounded size, whoever had them before."""

from __future__ import annotations

import queue
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from concertina_worker.sharding import exchange as exchanging
from concertina_worker.sharding.exchange import MovingTensor, RowExchange
from concertina_worker.sharding.rows import RowOwners, TensorRows, common, rounds
from tests.campaigns import examples

WORKERS = "abcdef"
OWNERS = st.permutations(WORKERS).flatmap(
    lambda all_: st.integers(1, len(WORKERS)).map(lambda count: RowOwners(tuple(all_[:count])))
)
ROWS = st.integers(0, 40)
SHAPES = st.lists(st.tuples(ROWS, st.integers(0, 3)), min_size=1, max_size=5)


@examples(100)
@given(owners=OWNERS, rows=ROWS)
def test_rows_lie_as_pytorch_divides_them(owners: RowOwners, rows: int) -> None:
    chunks = [[*chunk.tolist()] for chunk in torch.arange(rows).chunk(len(owners.names))]
    found = [[*owners.rows_of(name, rows)] for name in owners.names]
    assert [rows for rows in found if rows] == [chunk for chunk in chunks if chunk]
    assert not owners.rows_of("nobody", rows)


@examples(100)
@given(before=OWNERS, after=OWNERS, rows=ROWS)
def test_each_row_goes_from_one_to_one(before: RowOwners, after: RowOwners, rows: int) -> None:
    moved = [
        row
        for giver in before.names
        for taker in after.names
        for row in common(before.rows_of(giver, rows), after.rows_of(taker, rows))
    ]
    assert sorted(moved) == [*range(rows)]


@examples(100)
@given(shapes=SHAPES, most=st.integers(1, 64))
def test_rounds_have_each_row_once_and_no_more_bytes_than_they_may(
    shapes: list[tuple[int, int]], most: int
) -> None:
    tensors = [TensorRows(rows=rows, row_bytes=row_bytes) for rows, row_bytes in shapes]
    found = [*rounds(tensors, most_bytes=most)]
    rows = [(one.tensor, row) for together in found for one in together for row in one.rows]
    assert rows == [(number, row) for number, one in enumerate(tensors) for row in range(one.rows)]
    for together in found:
        sizes = [len(one.rows) * tensors[one.tensor].row_bytes for one in together]
        assert sum(sizes) <= most or [len(one.rows) for one in together] == [1]


class Letters:
    """What workers that are threads send each other."""

    def __init__(self) -> None:
        self.sent_bytes: list[int] = []
        self._boxes: dict[tuple[str, str], queue.Queue[torch.Tensor]] = defaultdict(queue.Queue)

    def line_of(
        self, me: str, everyone: Sequence[str], look: Callable[[int], None]
    ) -> exchanging.AllToAll:
        def all_to_all(
            room: torch.Tensor, sent: torch.Tensor, room_sizes: list[int], sizes: list[int]
        ) -> None:
            look(room.nbytes + sent.nbytes)
            self.sent_bytes.append(sent.nbytes)
            for other, part in zip(everyone, sent.split(sizes), strict=True):
                self._boxes[me, other].put(part.clone())
            for other, place in zip(everyone, room.split(room_sizes), strict=True):
                place.copy_(self._boxes[other, me].get(timeout=60))

        return all_to_all


def moved(
    wholes: list[torch.Tensor], before: RowOwners, after: RowOwners
) -> tuple[dict[str, list[torch.Tensor]], dict[str, int]]:
    """Return what each worker has in the end, and the most bytes that each ever held."""
    everyone = tuple(dict.fromkeys((*after.names, *before.names)))
    letters, most = Letters(), dict.fromkeys(everyone, 0)

    def run(me: str) -> list[torch.Tensor]:
        moving = [
            MovingTensor(
                shape=one.shape,
                dtype=one.dtype,
                held=one[before.rows_of(me, len(one)).start : before.rows_of(me, len(one)).stop],
            )
            for one in wholes
        ]

        def look(under_way: int) -> None:
            both = [part for one in moving for part in (one.held, one.taken) if part is not None]
            most[me] = max(most[me], under_way + sum(part.nbytes for part in both))

        exchange = RowExchange(
            me=me,
            everyone=everyone,
            before=before,
            after=after,
            device=torch.device("cpu"),
            all_to_all=letters.line_of(me, everyone, look),
        )
        found = []
        for one in exchange.move(moving):
            assert one.taken is not None
            found.append(one.taken)
        return found

    with ThreadPoolExecutor(len(everyone)) as pool:
        found = dict(zip(everyone, pool.map(run, everyone), strict=True))
    assert sum(letters.sent_bytes) == sum(one.nbytes for one in wholes)  # each row once
    return found, most


@examples(40)
@given(
    shapes=SHAPES,
    before=OWNERS,
    after=OWNERS,
    dtype=st.sampled_from([torch.float64, torch.bfloat16]),
)
def test_everybody_has_its_rows_in_the_end_and_never_much_more(
    shapes: list[tuple[int, int]], before: RowOwners, after: RowOwners, dtype: torch.dtype
) -> None:
    """No more than what it had or will have, one tensor and what is under way in a round."""
    wholes = [torch.rand(rows, width).to(dtype) for rows, width in shapes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchanging, "ROUND_BYTES", 32)
        found, most = moved(wholes, before, after)
    for worker, tensors in found.items():
        for one, whole in zip(tensors, wholes, strict=True):
            own = after.rows_of(worker, len(whole))
            assert torch.equal(one, whole[own.start : own.stop])
        largest = max(
            sum(len(owners.rows_of(worker, len(one))) * one[:1].nbytes for one in wholes)
            for owners in (before, after)
        )
        tensor = max(one.nbytes for one in wholes)
        a_row_of_each = (len(before.names) + 1) * 24  # which may be larger than what is asked for
        assert most[worker] <= largest + tensor + 2 * 32 + a_row_of_each


def test_a_large_model_is_never_whole_on_a_worker_that_joins_or_stays() -> None:
    wholes = [torch.rand(60, 10) for _ in range(30)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchanging, "ROUND_BYTES", 1000)
        _, most = moved(wholes, RowOwners(("a", "b")), RowOwners(("a", "b", "c")))
    whole = sum(one.nbytes for one in wholes)
    assert max(most.values()) < 0.6 * whole  # half of it, one tensor and two rounds
