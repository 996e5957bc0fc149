"""`sweep`: which values are tried, and what is said of a field that is wrong?"""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps import specs
from sweeps.search import draws, terms

from jobs.errors import SpecInvalid
from tests.campaigns import examples

METRIC = {"name": "loss"}


def read(**field: Any) -> terms.SweepTerms:
    return terms.read({"metric": METRIC, **field})


def wrong(**field: Any) -> dict[str, str]:
    with pytest.raises(SpecInvalid) as refused:
        read(**field)
    return {one.field: f"{one.problem} | {one.remedy}" for one in refused.value.problems}


def test_lists_and_ranges_are_tried_in_all_combinations_if_no_number_is_given() -> None:
    values = draws.values_of(read(parameters={"lr": [0.1, 0.01], "layers": "1..3"}))
    assert len(values) == 6
    assert {(one["lr"], one["layers"]) for one in values} == {
        (lr, layers) for lr in (0.1, 0.01) for layers in (1, 2, 3)
    }
    assert [*values[0]] == ["lr", "layers"]


@examples(50)
@given(st.integers(0, 2**31 - 1), st.integers(1, 50))
def test_values_follow_from_the_seed_and_lie_within_their_bounds(seed: int, trials: int) -> None:
    field = {
        "parameters": {
            "lr": {"log_uniform": [1e-4, 0.1]},
            "dropout": {"uniform": [0.0, 0.5]},
            "width": {"choice": [32, 64]},
        },
        "trials": trials,
        "seed": seed,
    }
    values = draws.values_of(read(**field))
    assert values == draws.values_of(read(**field))
    assert len(values) == trials
    for one in values:
        assert 1e-4 <= one["lr"] <= 0.1
        assert 0 <= one["dropout"] <= 0.5
        assert one["width"] in {32, 64}


def test_a_logarithm_has_each_order_of_magnitude_as_often() -> None:
    drawn = draws.values_of(read(parameters={"lr": {"log_uniform": [1e-4, 1.0]}}, trials=1000))
    orders = [math.floor(math.log10(one["lr"])) for one in drawn]
    assert all(200 < orders.count(order) < 300 for order in range(-4, 0))


def test_some_of_the_combinations_are_drawn_none_twice() -> None:
    values = draws.values_of(read(parameters={"a": "1..30", "b": "1..30"}, trials=800))
    assert len({(one["a"], one["b"]) for one in values}) == 800


def test_there_may_be_more_combinations_than_a_range_counts() -> None:
    parameters = {f"p{number}": "1..100" for number in range(20)}
    field = {"parameters": parameters, "trials": 50}
    values = draws.values_of(read(**field))
    assert len({tuple(one.values()) for one in values}) == 50
    assert values == draws.values_of(read(**field))


@pytest.mark.parametrize("bounds", [[1e6, 1e6 + 1e-3], [0.123456789, 0.123456798], [-1e15, 1e15]])
@pytest.mark.parametrize("kind", ["uniform", "log_uniform"])
def test_bounds_may_be_close_together_or_far_apart(kind: str, bounds: list[float]) -> None:
    if kind == "log_uniform":
        bounds = [abs(bounds[0]) if bounds[0] > 0 else 1e-300, bounds[1]]
    drawn = draws.values_of(read(parameters={"lr": {kind: bounds}}, trials=20))
    values = {one["lr"] for one in drawn}
    assert len(values) > 10
    assert all(bounds[0] <= value <= bounds[1] for value in values)


@pytest.mark.parametrize(
    ("field", "where", "words"),
    [
        ({"parameters": {}}, "sweep.parameters", ""),
        ({"parameters": {"2": [1]}, "trials": 1}, "sweep.parameters", "not a parameter's name"),
        ({"parameters": {"lr": {"uniform": [1, 0]}}, "trials": 1}, "", "smaller number first"),
        ({"parameters": {"lr": {"log_uniform": [0, 1]}}, "trials": 1}, "", "not positive"),
        ({"parameters": {"lr": {"normal": [0, 1]}}, "trials": 1}, "", ""),
        ({"parameters": {"lr": {"uniform": [0, 1]}}}, "sweep", "Add trials"),
        ({"parameters": {"lr": [1, 2]}, "trials": 3}, "sweep", "trials of 2 combinations"),
        ({"parameters": {"lr": [1, 2]}, "trials": 1001}, "sweep.trials", ""),
        ({"parameters": {"a": "1..40", "b": "1..40"}}, "sweep", "1600 combinations"),
        ({"parameters": {"lr": [1]}, "asha": {"max": 1}}, "sweep.asha", "not below its max"),
        ({"parameters": {"lr": [1]}, "asha": {"max": 9, "reduction": 1}}, "", ""),
        ({"parameters": {"lr": [1]}, "asha": {"max": math.nan}}, "sweep.asha.max", ""),
        ({"parameters": {"lr": [1]}, "max_running": 0}, "sweep.max_running", ""),
    ],
)
def test_what_is_wrong_is_told_with_its_place(field: Any, where: str, words: str) -> None:
    problems = wrong(**field)
    assert any(one.startswith(where) for one in problems), problems
    assert words in " ".join(problems.values())


def test_trials_ask_for_borrowed_gpus_unless_their_spec_says_otherwise() -> None:
    spec = {
        "name": "digits",
        "env": {"LR": "{{lr}}"},
        "sweep": {"parameters": {"lr": [0.1, 0.2]}, "metric": METRIC},
    }
    one, two = specs.all_of(spec, {})
    assert isinstance(one.document, dict)
    assert one.document["preemptibility"] == "preemptible"
    assert {one.document["name"], one.document["env"]["LR"]} <= {"digits-1", "0.1", "0.2"}
    assert two.trial is not None
    assert two.trial.number == 2
    kept = specs.all_of({**spec, "preemptibility": "non-preemptible"}, {})[0].document
    assert isinstance(kept, dict)
    assert kept["preemptibility"] == "non-preemptible"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"env": {}}, "uses nowhere"),
        ({"seed": "{{other}}"}, "no parameter other"),
        ({"array": {"parameters": {"a": [1]}}}, "stands beside an array"),
    ],
)
def test_parameters_and_places_fit_together(changes: Any, words: str) -> None:
    spec = {
        "name": "digits",
        "env": {"LR": "{{lr}}"},
        "sweep": {"parameters": {"lr": [0.1, 0.2]}, "metric": METRIC},
    }
    with pytest.raises(SpecInvalid, match=words):
        specs.all_of({**spec, **changes}, {})
