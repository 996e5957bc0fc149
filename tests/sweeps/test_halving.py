"""Who goes on from a rung, whoever comes and in whatever order?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps.search import halving
from sweeps.search.halving import HalvingDecision, MetricGoal, TrialFate, TrialStanding

from tests.campaigns import examples

VALUES = st.none() | st.sampled_from([0.0, 0.5, 1.0]) | st.floats(-10, 10)
REDUCTIONS = st.integers(2, 5)


def at(number: int, *values: float | None, **more: object) -> TrialStanding:
    """A trial that left these values at the first rungs."""
    return TrialStanding(number=number, marks=dict(enumerate(values)), **more)  # type: ignore[arg-type]


def decide(
    trials: Sequence[TrialStanding],
    *,
    to_come: int = 0,
    reduction: int = 3,
    rungs: int = 2,
    goal: MetricGoal = MetricGoal.MIN,
) -> HalvingDecision:
    return halving.decide(trials, rungs=rungs, reduction=reduction, goal=goal, to_come=to_come)


@pytest.mark.parametrize(
    ("trials", "to_come", "promoted", "stopped"),
    [
        pytest.param([at(1, 0.5)], 8, [], [], id="the first of many waits"),
        pytest.param(
            [at(1, 0.5), at(2, 0.4), at(3, 0.6)], 6, [(2, 0)], [], id="the best of three goes on"
        ),
        pytest.param([at(1, 0.5), at(2, 0.4)], 0, [(2, 0)], [1], id="one of two goes on"),
        pytest.param(
            [at(n, float(n)) for n in range(1, 10)],
            0,
            [(1, 0), (2, 0), (3, 0)],
            [4, 5, 6, 7, 8, 9],
            id="all at once is successive halving",
        ),
        pytest.param(
            [at(1, None), at(2, 0.4), at(3)], 6, [], [1], id="one that is no number is stopped"
        ),
        pytest.param([at(1), at(2), at(3)], 6, [], [], id="nothing is known of those without one"),
        pytest.param(
            [at(1, 0.5), at(2, 0.5), at(3, 0.5)], 0, [(1, 0)], [2, 3], id="equal: the earlier"
        ),
        pytest.param(
            [at(1, 0.1, fate=TrialFate.LOST), at(2, 0.4)], 0, [(2, 0)], [], id="lost: the next best"
        ),
        pytest.param(
            [at(1, 0.1, promoted={0}), at(2, 0.4), at(3, 0.5)], 0, [], [2, 3], id="once is enough"
        ),
        pytest.param(
            [at(1, 0.5), at(2, 0.4), at(3, 0.6), at(4, 0.7)],
            2,
            [(2, 0)],
            [3, 4],
            id="who cannot go on whoever comes is stopped at once",
        ),
    ],
)
def test_who_goes_on(
    trials: Sequence[TrialStanding],
    to_come: int,
    promoted: Sequence[tuple[int, int]],
    stopped: Sequence[int],
) -> None:
    found = decide(trials, to_come=to_come)
    assert (list(found.promoted), list(found.stopped)) == (list(promoted), list(stopped))


def test_a_metric_may_be_better_the_larger_it_is() -> None:
    found = decide([at(1, 0.9), at(2, 0.8), at(3, 0.7)], goal=MetricGoal.MAX)
    assert found.promoted == ((1, 0),)


def test_rungs_are_powers_below_the_end() -> None:
    assert halving.levels(least=1, most=27, reduction=3) == (1, 3, 9)
    assert halving.levels(least=0.7, most=2.1, reduction=3) == (0.7,)
    assert len(halving.levels(least=1e-9, most=1e15, reduction=2)) == halving.MOST_RUNGS


@examples(300)
@given(st.lists(VALUES, min_size=1, max_size=40), st.integers(0, 20), REDUCTIONS)
def test_no_more_than_one_in_so_many_goes_on_and_the_best_is_never_stopped(
    values: Sequence[float | None], to_come: int, reduction: int
) -> None:
    trials = [at(number, value) for number, value in enumerate(values)]
    found = decide(trials, to_come=to_come, reduction=reduction)
    share = len(values) // reduction
    assert len(found.promoted) <= (share if to_come else max(share, 1))
    numbers = [value for value in values if value is not None]
    if numbers:
        best = values.index(min(numbers))
        assert best not in found.stopped
        assert share + to_come == 0 or to_come or (best, 0) in found.promoted
    known = {number for number, value in enumerate(values) if value is None}
    assert known <= {*found.stopped}
    assert not {number for number, _ in found.promoted} & {*found.stopped}


@examples(200)
@given(st.lists(VALUES, min_size=1, max_size=15), REDUCTIONS, st.randoms(use_true_random=False))
def test_the_order_in_which_trials_are_told_of_makes_no_difference(
    values: Sequence[float | None], reduction: int, chance: object
) -> None:
    trials = [at(number, value) for number, value in enumerate(values)]
    shuffled = [*trials]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (decide(some, to_come=3, reduction=reduction) for some in (trials, shuffled))
    assert {*one.promoted} == {*other.promoted}
    assert one.stopped == other.stopped


@examples(200)
@given(
    st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=20),
    REDUCTIONS,
    st.randoms(use_true_random=False),
)
def test_in_whatever_order_trials_come_the_best_of_each_rung_goes_on_and_all_come_to_an_end(
    curves: Sequence[Sequence[float]], reduction: int, chance: object
) -> None:
    """Of those that come to a rung: who is among its best share at the end has been let go on."""
    marks: dict[int, dict[int, float]] = {number: {} for number in range(len(curves))}
    promoted: dict[int, set[int]] = {number: set() for number in marks}
    fates = dict.fromkeys(marks, TrialFate.LIVES)
    trains = [*marks]
    while trains:
        one = trains.pop(chance.randrange(len(trains)))  # type: ignore[attr-defined]
        rung = len(marks[one])
        if rung == 3:
            fates[one] = TrialFate.COMPLETED
        else:
            marks[one][rung] = curves[one][rung]
        found = decide(_standings(marks, promoted, fates), reduction=reduction, rungs=3)
        for number, level in found.promoted:
            assert fates[number] is TrialFate.LIVES
            promoted[number].add(level)
            trains.append(number)
        for number in found.stopped:
            assert number not in trains
            fates[number] = TrialFate.STOPPED
    assert set(fates.values()) <= {TrialFate.COMPLETED, TrialFate.STOPPED}
    assert TrialFate.COMPLETED in fates.values()
    for rung in range(3):
        there = sorted((values[rung], number) for number, values in marks.items() if rung in values)
        for _, number in there[: max(len(there) // reduction, 1)]:
            assert rung in promoted[number]


def _standings(
    marks: Mapping[int, Mapping[int, float]],
    promoted: Mapping[int, set[int]],
    fates: Mapping[int, TrialFate],
) -> list[TrialStanding]:
    return [
        TrialStanding(
            number=one, marks=dict(marks[one]), promoted=frozenset(promoted[one]), fate=fates[one]
        )
        for one in marks
    ]


@examples(100)
@given(st.lists(VALUES, min_size=1, max_size=20))
def test_the_best_has_come_furthest(values: Sequence[float | None]) -> None:
    trials = [at(0, 0.0), *(at(number, 9.0, value) for number, value in enumerate(values, 1))]
    best = halving.best_of(trials, MetricGoal.MIN)
    numbers = [value for value in values if value is not None]
    expected = values.index(min(numbers)) + 1 if numbers else 0
    assert best == expected


def test_nothing_is_the_best_where_nothing_is_known() -> None:
    assert halving.best_of([at(1), at(2, None)], MetricGoal.MIN) is None


def test_one_that_is_lost_is_the_best_where_all_are() -> None:
    lost = at(1, 0.1, 0.1, fate=TrialFate.LOST)
    assert halving.best_of([lost, at(2, 0.4)], MetricGoal.MIN) == 2
    assert halving.best_of([lost, at(2, 0.4, fate=TrialFate.LOST)], MetricGoal.MIN) == 1
