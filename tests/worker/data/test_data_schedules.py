"""Each sample exactly once per epoch, whatever happens to the workers on the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concertina_worker.samples.source import DataError, SampleSource
from tests.campaigns import examples
from tests.worker.data.elastic_reading import Change, ReadingJob, numbers

CHANGES = st.builds(
    Change,
    workers=st.integers(1, 6) | st.none(),
    batch_size=st.integers(1, 40) | st.none(),
    limit=st.integers(1, 12) | st.none(),
    loses_one=st.booleans(),
    resumes=st.booleans(),
)
AGREED = st.builds(
    Change, workers=st.integers(1, 6) | st.none(), batch_size=st.integers(1, 40) | st.none()
)


@examples(40)
@given(
    source=st.builds(
        numbers, st.integers(1, 120), ahead=st.integers(0, 6), is_stream=st.booleans()
    ),
    workers=st.integers(1, 6),
    batch_size=st.integers(1, 40),
    changes=st.dictionaries(st.integers(0, 60), CHANGES, max_size=8),
)
def test_any_schedule_uses_every_sample_once_an_epoch(
    source: SampleSource, workers: int, batch_size: int, changes: dict[int, Change]
) -> None:
    members = tuple(f"w{number}" for number in range(workers))
    job = ReadingJob(source, members, batch_size)
    for _ in range(3):
        used = job.run_epoch(changes)
        assert sorted(used) == list(source.dataset)
        assert set(used.values()) == {1}


@examples(40)
@given(
    source=st.builds(
        numbers, st.integers(1, 200), ahead=st.integers(0, 6), is_stream=st.booleans()
    ),
    batch_size=st.integers(1, 20),
    changes=st.dictionaries(st.integers(0, 60), AGREED, max_size=6),
)
def test_what_is_agreed_on_ahead_throws_no_loaded_sample_away(
    source: SampleSource, batch_size: int, changes: dict[int, Change]
) -> None:
    job = ReadingJob(source, ("w0", "w1"), batch_size)
    for _ in range(3):
        job.run_epoch(changes)
    assert job.thrown_away == 0


@pytest.mark.parametrize("is_stream", [False, True], ids=["map", "stream"])
@pytest.mark.parametrize(
    ("length", "batch_size", "batches"),
    [
        (10, 4, [4, 4, 2]),
        (8, 4, [4, 4]),
        (3, 2, [2, 1]),  # fewer samples than workers: some compute nothing
        (5, 100, [5]),
        (1, 1, [1]),
        (1, 8, [1]),
    ],
)
def test_the_last_batch_of_an_epoch_is_what_is_left(
    *, length: int, batch_size: int, batches: list[int], is_stream: bool
) -> None:
    job = ReadingJob(numbers(length, is_stream=is_stream), ("a", "b", "c", "d"), batch_size)
    assert sorted(job.run_epoch({})) == list(range(length))
    assert job.batches == batches


@pytest.mark.parametrize("is_stream", [False, True], ids=["map", "stream"])
def test_a_last_small_batch_is_left_out_where_the_script_wants_it(*, is_stream: bool) -> None:
    source = numbers(10, ahead=2, is_stream=is_stream, drops_last=True)
    job = ReadingJob(source, ("a", "b"), 4)
    job.run_epoch({})
    assert job.batches == [4, 4]
    job.run_epoch({3: Change(batch_size=3)})
    assert job.batches == [4, 4, 4, 4]  # begins with the next epoch
    job.run_epoch({})
    assert job.batches == [4, 4, 4, 4, 3, 3, 3]


@pytest.mark.parametrize("is_stream", [False, True], ids=["map", "stream"])
def test_an_empty_data_set_is_an_error(*, is_stream: bool) -> None:
    with pytest.raises(DataError, match="empty on this worker"):
        ReadingJob(numbers(0, is_stream=is_stream), ("a",), 4).run_epoch({})


def test_losing_a_worker_throws_away_what_its_loss_made_useless_and_no_more() -> None:
    job = ReadingJob(numbers(100, ahead=4), ("a", "b", "c"), 6)
    used = job.run_epoch({5: Change(loses_one=True)})
    assert set(used.values()) == {1}
    assert job.thrown_away == 2 * 4  # of each survivor what it had loaded ahead
