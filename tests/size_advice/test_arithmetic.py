"""Does advice about sizes follow from what was measured, and stay silent where too little was?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.size_advice.arithmetic import (
    SizeVerdict,
    TriedSize,
    advise,
    wasted_share,
)
from tests.campaigns import examples


def tried(**sizes: tuple[float, float | None]) -> list[TriedSize]:
    """Sizes by `wN`: seconds, and samples per second as measured."""
    return [
        TriedSize(workers=int(name[1:]), seconds=seconds, measured=rate)
        for name, (seconds, rate) in sizes.items()
    ]


def test_beyond_the_knee_fewer_workers_lose_little_and_save_much() -> None:
    found = advise(
        tried(w1=(100, 10), w2=(100, 19), w4=(100, 34), w8=(1000, 40)),
        gpus_per_worker=2,
        min_workers=2,
    )
    assert (found.verdict, found.knee) == (SizeVerdict.FEWER, 4)
    assert [round(one.efficiency or 0, 2) for one in found.sizes] == [1.0, 0.95, 0.85, 0.5]
    gains = [one.gain_of_last for one in found.sizes]
    assert gains == [None, pytest.approx(0.9), pytest.approx(0.75), pytest.approx(0.15)]
    assert found.gpu_seconds == 2 * (100 + 200 + 400 + 8000)
    suggested = found.suggested
    assert suggested is not None
    assert (suggested.min_workers, suggested.max_workers) == (2, 4)
    longer = 1000 * 40 / 34 - 1000
    assert suggested.lost_seconds == pytest.approx(longer)
    assert suggested.saved_gpu_seconds == pytest.approx(2 * (8000 - 4 * (1000 + longer)))
    assert wasted_share(found) == pytest.approx(0.85)


def test_a_size_between_that_the_job_does_not_allow_is_no_knee() -> None:
    sizes = [
        *tried(w1=(100, 10), w4=(100, 20)),
        TriedSize(workers=2, predicted=19, relative_error=0.01),
    ]
    assert advise(sizes, gpus_per_worker=1, min_workers=1).knee == 2
    found = advise(sizes, gpus_per_worker=1, min_workers=1, allowed={1, 4})
    assert (found.knee, found.suggested and found.suggested.max_workers) == (1, 1)


def test_a_knee_that_the_job_allows_no_more_is_a_range_of_its_own() -> None:
    sizes = tried(w1=(1, 10), w2=(1, 19), w8=(1000, 20))
    found = advise(sizes, gpus_per_worker=1, min_workers=1, allowed={1, 4, 8})
    assert found.suggested is not None
    assert (found.suggested.min_workers, found.suggested.max_workers) == (2, 2)


def test_time_below_half_is_that_of_sizes_with_less_than_half_the_efficiency() -> None:
    found = advise(tried(w1=(10, 10), w8=(100, 32)), gpus_per_worker=1, min_workers=1)
    assert found.gpu_seconds_below_half == 800


def test_where_every_size_was_worth_it_nothing_is_suggested() -> None:
    found = advise(tried(w1=(10, 10), w2=(90, 20), w4=(80, 38)), gpus_per_worker=1, min_workers=1)
    assert (found.verdict, found.knee, found.suggested) == (SizeVerdict.KEEP, 4, None)


def test_a_moment_beyond_the_knee_is_not_worth_a_word() -> None:
    found = advise(tried(w1=(10_000, 10), w4=(1, 12)), gpus_per_worker=1, min_workers=1)
    assert found.verdict == SizeVerdict.KEEP


@pytest.mark.parametrize(
    ("sizes", "word"),
    [
        ({}, "not been measured"),
        ({"w4": (100.0, None)}, "not been measured"),
        ({"w4": (100.0, 20.0)}, "with 4 workers only"),
        ({"w1": (100.0, 10.0), "w4": (50.0, None)}, "with 1 worker only"),
        ({"w1": (0.0, 10.0), "w4": (0.0, 20.0)}, "not trained"),
    ],
)
def test_where_too_little_was_measured_it_says_so(
    sizes: dict[str, tuple[float, float | None]], word: str
) -> None:
    found = advise(tried(**sizes), gpus_per_worker=1, min_workers=1)
    assert (found.verdict, found.suggested, found.knee) == (SizeVerdict.UNKNOWN, None, None)
    assert word in found.why


def test_a_model_that_is_not_sure_is_not_asked() -> None:
    doubtful = TriedSize(workers=3, seconds=5000, predicted=29, relative_error=0.5)
    sure = TriedSize(workers=3, seconds=5000, predicted=29, relative_error=0.05)
    for between, efficiency in ((doubtful, None), (sure, pytest.approx(29 / 30))):
        found = advise([*tried(w1=(1, 10), w4=(1, 38)), between], gpus_per_worker=1, min_workers=1)
        (at_three,) = (one for one in found.sizes if one.tried.workers == 3)
        assert at_three.efficiency == efficiency


def test_time_at_a_size_of_unknown_speed_beyond_the_knee_is_not_counted_on() -> None:
    found = advise(
        [*tried(w1=(100, 10), w2=(100, 11)), TriedSize(workers=8, seconds=100)],
        gpus_per_worker=1,
        min_workers=1,
    )
    assert (found.verdict, found.suggested) == (SizeVerdict.KEEP, None)


_sizes = st.dictionaries(
    st.integers(1, 64),
    st.tuples(st.floats(0, 1e6), st.one_of(st.none(), st.floats(1e-3, 1e6))),
    max_size=8,
)


@given(sizes=_sizes, gpus=st.integers(1, 8), least=st.integers(1, 64))
@examples(300)
def test_whatever_was_measured_what_is_suggested_can_be(
    sizes: dict[int, tuple[float, float | None]], gpus: int, least: int
) -> None:
    found = advise(
        [TriedSize(workers=k, seconds=s, measured=rate) for k, (s, rate) in sizes.items()],
        gpus_per_worker=gpus,
        min_workers=least,
    )
    assert 0 <= found.gpu_seconds_below_half <= found.gpu_seconds * (1 + 1e-9)
    assert 0 <= wasted_share(found) <= 1
    assert (found.suggested is not None) == (found.verdict is SizeVerdict.FEWER)
    assert (found.knee is None) == bool(found.why)
    if (suggested := found.suggested) is not None:
        assert 1 <= suggested.min_workers <= suggested.max_workers == found.knee
        assert suggested.max_workers < max(sizes)
        assert suggested.lost_seconds >= 0
        assert 0 < suggested.saved_share <= 1
