from __future__ import annotations

import itertools
import random

import pytest

from autoscaler.planning.optimizer import Bounds, Claim, Problem, Solution, reachable_totals
from autoscaler.planning.optimizer import solve as solve_problem

A = (1.0, 1.9, 2.7, 3.4)
B = (1.0, 1.2, 1.3, 1.35)
C = (1.0, 0.9, 1.5, 2.6)


def claim(name: str, values: tuple[float, ...], team: str = "one") -> Claim:
    """Values of 1, 2, ... GPUs."""
    return Claim(job_id=name, team=team, gpus=range(1, len(values) + 1), values=values)


def solve(
    claims: list[Claim], *, gpus: int, bounds: dict[str, Bounds] | None = None
) -> Solution | None:
    return solve_problem(Problem.of(claims, gpus=gpus, bounds=bounds))


def brute_force(claims: list[Claim], gpus: int, bounds: dict[str, Bounds]) -> float | None:
    best: float | None = None
    for options in itertools.product(*(zip(c.gpus, c.values, strict=True) for c in claims)):
        teams = dict.fromkeys([*bounds, *(c.team for c in claims)], 0)
        for c, (size, _) in zip(claims, options, strict=True):
            teams[c.team] += size
        inside = all(
            bounds.get(team, Bounds()).least
            <= used
            <= (gpus if (b := bounds.get(team, Bounds())).most is None else b.most)
            for team, used in teams.items()
        )
        if inside and sum(teams.values()) <= gpus:
            value = sum(value for _, value in options)
            best = value if best is None else max(best, value)
    return best


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
    assert solution.gpus_used == 5


def test_more_jobs_than_gpus_is_impossible_and_not_a_very_bad_split() -> None:
    assert solve([claim("1", A), claim("2", B), claim("3", C)], gpus=2) is None


def test_a_bound_that_no_sum_of_options_meets_is_impossible() -> None:
    even = Claim(job_id="1", team="one", gpus=(2, 4), values=(1, 2))
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


def random_claim(rng: random.Random, name: str) -> Claim:
    sizes = rng.sample(range(7), rng.randint(1, 5))  # holes, and 0 GPUs for a job about to leave
    values = rng.choice(
        (
            lambda: float(rng.randint(-2, 3)),  # ties, negative worth
            lambda: rng.uniform(-5, 5),
        )
    )
    return Claim(
        job_id=name,
        team=rng.choice(("red", "green", "blue")),
        gpus=sorted(sizes),
        values=[values() for _ in sizes],
    )


def random_bounds(rng: random.Random) -> dict[str, Bounds]:
    bounds = {}
    for team in ("red", "green", "blue"):
        if rng.random() < 0.5:
            least = rng.randint(0, 4)
            most = rng.choice((None, least + rng.randint(0, 4)))
            bounds[team] = Bounds(least=least, most=most)
    return bounds


@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_equals_brute_force(seed: int) -> None:
    """4,000 instances: 1-5 jobs of up to three teams with bounds, curves of any shape."""
    rng = random.Random(seed)  # noqa: S311 - instances, not secrets
    impossible = 0
    for _ in range(500):
        claims = [random_claim(rng, str(i)) for i in range(rng.randint(1, 5))]
        gpus, bounds = rng.randint(0, 12), random_bounds(rng)
        solution, expected = (
            solve(claims, gpus=gpus, bounds=bounds),
            brute_force(claims, gpus, bounds),
        )
        if expected is None:
            impossible += 1
            assert solution is None
            continue
        assert solution is not None
        assert solution.value == pytest.approx(expected, abs=1e-9)
        assert solution.gap == 0
        one_more = brute_force(claims, gpus + 1, bounds)
        assert solution.price == pytest.approx((one_more or 0) - expected, abs=1e-9)
        taken = list(zip(claims, solution.chosen, strict=True))
        assert sum(c.values[i] for c, i in taken) == pytest.approx(expected, abs=1e-9)
        assert sum(c.gpus[i] for c, i in taken) == solution.gpus_used <= gpus
    assert 0 < impossible < 450  # the instances reach both sides


def test_more_gpus_never_lower_the_optimum() -> None:
    rng = random.Random(1)  # noqa: S311 - instances, not secrets
    for _ in range(200):
        claims = [random_claim(rng, str(i)) for i in range(rng.randint(1, 6))]
        values = [s.value for gpus in range(20) if (s := solve(claims, gpus=gpus)) is not None]
        assert values == sorted(values)


def test_reachable_totals_are_all_sums_and_only_those() -> None:
    first = Claim(job_id="1", team="x", gpus=(1, 4), values=(0, 0))
    second = Claim(job_id="2", team="x", gpus=(2,), values=(0,))
    assert reachable_totals([first, second]) == (3, 6)
    assert reachable_totals([]) == (0,)
