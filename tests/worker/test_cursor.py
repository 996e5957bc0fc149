"""Every sample once per epoch, whatever the workers and batches on the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concertina_worker.data.cursor import Cursor, micro_batches, permutation, split

LENGTHS = st.integers(1, 300)


@given(start=st.integers(0, 50), length=st.integers(0, 200), parts=st.integers(1, 20))
def test_an_even_split_covers_the_batch_and_differs_by_one_at_most(
    start: int, length: int, parts: int
) -> None:
    batch = range(start, start + length)
    shares = [split(batch, parts=parts, index=index) for index in range(parts)]
    assert [position for share in shares for position in share] == list(batch)
    sizes = [len(share) for share in shares]
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


@given(length=st.integers(0, 200), limit=st.integers(1, 50) | st.none())
def test_micro_batches_cover_the_share_within_the_limit(length: int, limit: int | None) -> None:
    pieces = micro_batches(range(7, 7 + length), limit=limit)
    assert [position for piece in pieces for position in piece] == list(range(7, 7 + length))
    assert all(pieces)
    assert limit is None or all(len(piece) <= limit for piece in pieces)


@given(length=LENGTHS, schedule=st.lists(st.tuples(st.integers(1, 64), st.integers(1, 8))))
def test_any_schedule_of_batches_and_workers_uses_every_sample_once(
    length: int, schedule: list[tuple[int, int]]
) -> None:
    order = permutation(seed=1, epoch=2, length=length).tolist()
    cursor, used = Cursor(epoch=2), []
    while batch := cursor.batch(schedule[-1][0] if schedule else 7, length):
        workers = schedule.pop()[1] if len(schedule) > 1 else 3
        for index in range(workers):
            share = split(batch, parts=workers, index=index)
            used += order[share.start : share.stop]
        cursor = cursor.after(batch)
    assert sorted(used) == list(range(length))
    assert cursor.next_epoch() == Cursor(epoch=3)


@given(length=LENGTHS, seed=st.integers(0, 2**63), epoch=st.integers(0, 1000))
def test_all_workers_know_the_same_permutation(length: int, seed: int, epoch: int) -> None:
    first = permutation(seed=seed, epoch=epoch, length=length)
    assert first.tolist() == permutation(seed=seed, epoch=epoch, length=length).tolist()
    assert sorted(first.tolist()) == list(range(length))


@pytest.mark.parametrize(("seed", "epoch"), [(0, 1), (1, 0)])
def test_epochs_and_seeds_differ(seed: int, epoch: int) -> None:
    other = permutation(seed=seed, epoch=epoch, length=100).tolist()
    assert other != permutation(seed=0, epoch=0, length=100).tolist()
