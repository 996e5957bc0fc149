from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from autoscaler.planning.optimizer import AllocationProblem, Bounds, SizeChoice, Solution
from autoscaler.planning.optimizer import solve as solve_problem

A = (1.0, 1.9, 2.7, 3.4)
B = (1.0, 1.2, 1.3, 1.35)
C = (1.0, 0.9, 1.5, 2.6)


def claim(name: str, values: tuple[float, ...], team: str = "one") -> SizeChoice:
    """Values of 1, 2, ... GPUs."""
    return SizeChoice(job_id=name, team=team, gpus=range(1, len(values) + 1), values=values)


def solve(
    claims: list[SizeChoice], *, gpus: int, bounds: dict[str, Bounds] | None = None
) -> Solution | None:
    return solve_problem(AllocationProblem.of(claims, gpus=gpus, bounds=bounds))


@pytest.mark.parametrize(
    ("curves", "gpus", "split", "value"),
    [
        ((A, B, C), 4, (2, 1, 1), 3.9),
        ((A, C), 5, (4, 1), 4.4),
        ((A, C), 4, (3, 1), 3.7),
    ],
)
def test_the_published_vectors(
    curves: tuple[tuple[float, ...], ...], gpus: int, split: tuple[int, ...], value: float
) -> None:
    claims = [claim(str(i), curve) for i, curve in enumerate(curves)]
    solution = solve(claims, gpus=gpus)
    assert solution is not None
    chosen = tuple(c.gpus[i] for c, i in zip(claims, solution.chosen, strict=True))
    assert chosen == split
    assert solution.value == pytest.approx(value)
    assert solution.gap == 0


def test_a_curve_with_a_dip_is_crossed_where_a_greedy_search_would_stop() -> None:
    solution = solve([claim("1", C), claim("2", C)], gpus=5)
    assert solution is not None
    assert solution.value == pytest.approx(3.6)
    assert sorted(solution.chosen + 1) == [1, 4]


def test_more_jobs_than_gpus_is_impossible_and_not_a_very_bad_split() -> None:
    assert solve([claim("1", A), claim("2", B), claim("3", C)], gpus=2) is None


def test_a_bound_that_no_sum_of_options_meets_is_impossible() -> None:
    even = SizeChoice(job_id="1", team="one", gpus=(2, 4), values=(1, 2))
    assert solve([even], gpus=8, bounds={"one": Bounds(least=3, most=3)}) is None


def test_the_price_is_what_one_more_gpu_adds() -> None:
    solution = solve([claim("1", A)], gpus=2)
    assert solution is not None
    assert solution.price == pytest.approx(2.7 - 1.9)


def test_gpus_that_add_nothing_stay_idle() -> None:
    solution = solve([claim("1", (1.0, 1.0, 0.5))], gpus=3)
    assert solution is not None
    assert (solution.gpus_used, solution.price) == (1, 0)


def test_nothing_to_split_is_worth_nothing() -> None:
    solution = solve([], gpus=4)
    assert solution is not None
    assert (solution.value, solution.gpus_used, solution.price) == (0, 0, 0)


def test_a_company_is_bounded_by_the_sum_of_its_teams() -> None:
    claims = [claim("1", A, "vision"), claim("2", A, "audio"), claim("3", A, "guests")]
    parents = {"vision": "research", "audio": "research", "research": None}
    limits = {"research": Bounds(most=5), "audio": Bounds(least=4)}
    solution = solve_problem(AllocationProblem.of(claims, gpus=9, bounds=limits, parents=parents))
    assert solution is not None
    assert solution.chosen.tolist() == [0, 3, 3]
    assert solution.price == 0


def test_a_guarantee_of_a_team_without_jobs_cannot_be_met() -> None:
    assert solve([claim("1", A)], gpus=8, bounds={"two": Bounds(least=1)}) is None


def test_a_team_above_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="above itself"):
        AllocationProblem.of([claim("1", A, "x")], gpus=4, parents={"x": "y", "y": "x"})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_value_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="finite value"):
        solve([claim("a", (1.0, value, 2.0))], gpus=2)


@pytest.mark.parametrize("gpus", [(2, 1), (-1, 1)])
def test_sizes_that_do_not_ascend_from_zero_are_refused(gpus: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="ascend"):
        solve([SizeChoice(job_id="a", team="one", gpus=gpus, values=(1.0, 2.0))], gpus=4)


def test_an_option_without_a_value_is_refused() -> None:
    with pytest.raises(ValueError, match="finite value"):
        solve([SizeChoice(job_id="a", team="one", gpus=(1, 2), values=(1.0,))], gpus=4)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"starts": [0, 2, 1]}, "one after another"),
        ({"starts": [0, 1, 3]}, "one after another"),
        ({"groups": [0, 2]}, "belong to a group"),
        ({"groups": [0]}, "belong to a group"),
        ({"parents": [-1, 1]}, "after its parent"),
        ({"parents": [0, 0]}, "after its parent"),
        ({"least": [0]}, "have bounds"),
    ],
)
def test_arrays_that_describe_no_problem_are_refused(
    changes: dict[str, list[int]], complaint: str
) -> None:
    problem = AllocationProblem.of([claim("a", (1.0,)), claim("b", (1.0,))], gpus=2)
    arrays = {name: np.array(content) for name, content in changes.items()}
    with pytest.raises(ValueError, match=complaint):
        replace(problem, **arrays)


def test_a_guarantee_may_force_a_team_to_take_gpus_that_cost_it() -> None:
    solution = solve([claim("1", (1.0, 0.9, -1.5))], gpus=3, bounds={"one": Bounds(least=3)})
    assert solution is not None
    assert (solution.value, solution.price) == (-1.5, 0)


def test_of_two_equal_splits_the_one_with_fewer_gpus_is_taken_and_always_the_same() -> None:
    claims = [claim("1", (1.0, 2.0, 2.0)), claim("2", (1.0, 1.0, 2.0))]
    splits = {tuple(s.chosen.tolist()) for _ in range(5) if (s := solve(claims, gpus=5))}
    assert splits == {(1, 2)}
    solution = solve(claims, gpus=4)
    assert solution is not None
    assert (solution.value, solution.gpus_used) == (3.0, 3)


def test_more_gpus_never_lower_the_optimum() -> None:
    rng = random.Random(1)  # noqa: S311 - instances, not secrets
    for _ in range(100):
        curves = [[rng.randint(-8, 8) / 4 for _ in range(5)] for _ in range(rng.randint(1, 6))]
        claims = [claim(str(i), tuple(curve)) for i, curve in enumerate(curves)]
        values = [s.value for gpus in range(24) if (s := solve(claims, gpus=gpus)) is not None]
        assert values == sorted(values)
        assert len(values) == 24 - len(claims)
