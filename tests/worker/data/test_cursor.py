"""Which samples stand where, and who computes them: even parts, one order for all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concertina_worker.samples.order import as_it_is, shuffled
from concertina_worker.samples.share import Division, micro_batches, split
from concertina_worker.samples.step_plan import Segment, StepPlan

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


@given(
    length=st.integers(1, 60),
    parts=st.integers(1, 8),
    limit=st.none() | st.integers(1, 9),
    fewest=st.integers(1, 2),
)
def test_workers_in_step_make_equally_many_micro_batches_and_each_sample_counts_once(
    length: int, parts: int, limit: int | None, fewest: int
) -> None:
    batch = range(5, 5 + length)
    shares = [
        Division(parts=parts, index=index, limit=limit, fewest=fewest, in_step=True).share(batch)
        for index in range(parts)
    ]
    counted = [
        position
        for share in shares
        for number, positions in enumerate(share.micro_batches)
        if share.weight(number)
        for position in positions
    ]
    assert len({len(share.micro_batches) for share in shares}) == 1
    assert all(positions for share in shares for positions in share.micro_batches)
    assert sorted(counted) == [*batch]
    weights = [s.weight(n) for s in shares for n in range(len(s.micro_batches))]
    assert sum(weights) == pytest.approx(1)


@given(length=st.integers(1, 100), parts=st.integers(1, 20), limit=st.integers(1, 9) | st.none())
def test_the_weights_of_all_micro_batches_add_up_to_one(
    length: int, parts: int, limit: int | None
) -> None:
    shares = [
        Division(parts=parts, index=index, limit=limit).share(range(5, 5 + length))
        for index in range(parts)
    ]
    weights = [share.weight(n) for share in shares for n in range(len(share.micro_batches))]
    assert sum(weights) == pytest.approx(1.0)
    assert max(len(share.own) for share in shares) == shares[0].largest


def test_of_a_batch_without_samples_nothing_counts() -> None:
    assert Division(parts=2, index=0, limit=None).share(range(7, 7)).weight(0) == 0.0


def test_a_worker_without_samples_rehearses_with_the_first_ones() -> None:
    share = Division(parts=3, index=2, limit=None).share(range(10, 12))
    assert share.micro_batches == (range(10, 12),)
    assert share.weight(0) == 0.0
    resting = Division(parts=2, index=None, limit=None).share(range(10, 30))
    assert (len(resting.own), resting.weight(0)) == (0, 0.0)


@given(
    length=st.integers(1, 100),
    cut=st.integers(0, 99),
    parts=st.integers(1, 20),
    index=st.integers(0, 19),
    limit=st.integers(1, 9) | st.none(),
)
def test_a_share_has_one_sample_only_where_the_batch_has(
    length: int, cut: int, parts: int, index: int, limit: int | None
) -> None:
    divisions = [Division(parts=parts, index=i, limit=limit, fewest=2) for i in range(parts)]
    sizes = [len(division.share(range(length)).own) for division in divisions]
    assert sum(sizes) == length
    assert min(size for size in sizes if size) >= min(length, 2)
    assert max(sizes) <= max(3, -(-length // parts))
    shorter = divisions[index % parts].share(range(max(1, length - cut)))
    most = divisions[index % parts].most_micro_batches(range(length))
    assert len(shorter.micro_batches) <= most


@given(length=LENGTHS, seed=st.integers(0, 2**63), epoch=st.integers(0, 1000))
def test_all_workers_know_the_same_order(length: int, seed: int, epoch: int) -> None:
    first = shuffled(seed=seed, epoch=epoch, length=length)
    again = shuffled(seed=seed, epoch=epoch, length=length)
    assert first.at(range(length)) == again.at(range(length))
    assert first.fingerprint == again.fingerprint
    assert sorted(first.at(range(length))) == list(range(length))


@pytest.mark.parametrize(("seed", "epoch"), [(0, 1), (1, 0)])
def test_epochs_and_seeds_differ(seed: int, epoch: int) -> None:
    other = shuffled(seed=seed, epoch=epoch, length=100)
    first = shuffled(seed=0, epoch=0, length=100)
    assert other.at(range(100)) != first.at(range(100))
    assert len({other.fingerprint, first.fingerprint, as_it_is(100).fingerprint}) == 3


def test_a_step_plan_changes_where_its_next_segment_begins_and_forgets_what_was_planned_later() -> (
    None
):
    step_plan = StepPlan.steady(8, "a")
    step_plan = step_plan.then(Segment(first_step=5, batch_size=8, workers=("a", "b")))
    step_plan = step_plan.then(Segment(first_step=9, batch_size=16, workers=("a", "b")))
    assert [step_plan.at(step).batch_size for step in (4, 5, 8, 9, 100)] == [8, 8, 8, 16, 16]
    assert step_plan.at(4).workers == ("a",)
    sooner = step_plan.then(Segment(first_step=5, batch_size=4, workers=("b",)))
    assert [sooner.at(step).workers for step in (4, 5, 100)] == [("a",), ("b",), ("b",)]
