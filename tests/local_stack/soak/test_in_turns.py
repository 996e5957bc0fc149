"""How are the figures of two checkouts put side by side?"""

from __future__ import annotations

from benchmarks.in_turns import BenchmarkRun, compare, split_at_dashes


def run(*lines: str, seconds: float = 2.0) -> BenchmarkRun:
    return BenchmarkRun(printed="\n".join(lines) + "\n", seconds=seconds)


def test_numbers_that_differ_become_both_medians_and_their_ratio() -> None:
    there = [run("jobs   GPUs", "  25    100   4.0 ms"), run("jobs GPUs", " 25  100  6.0 ms")]
    here = [run("jobs   GPUs", "  25    100  10.0 ms", seconds=1.0)]
    assert list(compare(there, here)) == [
        "jobs GPUs",
        "25 100 5 -> 10 (x 2.00) ms",
        "processor seconds of a run: 2 -> 1 (x 0.50)",
    ]


def test_lines_with_the_same_words_are_told_apart_by_their_order() -> None:
    there, here = [run("1 job: 2.5 ms", "10 jobs: 7 ms")], [run("1 job: 5.0 ms", "10 jobs: 7 ms")]
    assert list(compare(there, here))[:2] == ["1 job: 2.5 -> 5 (x 2.00) ms", "10 jobs: 7 ms"]


def test_lines_of_one_checkout_alone_are_counted() -> None:
    lines = list(compare([run("plan 1 ms", "old 1 ms")], [run("plan 1 ms", "new", "newer")]))
    assert lines[:3] == [
        "plan 1 ms",
        "(1 lines are printed there only)",
        "(2 lines are printed here only)",
    ]


def test_a_number_that_was_nothing_has_no_ratio() -> None:
    assert next(compare([run("0 lost")], [run("3 lost")])) == "0 -> 3 lost"


def test_big_numbers_are_read_with_their_commas_and_names_are_no_numbers() -> None:
    lines = compare([run("p95 of n1: 1,000 ms")], [run("p95 of n1: 500 ms")])
    assert next(lines) == "p95 of n1: 1000 -> 500 (x 0.50) ms"


def test_what_stands_behind_dashes_is_for_the_benchmark() -> None:
    assert split_at_dashes(["../before", "name", "--rounds", "3", "--", "--jobs", "10"]) == (
        ["../before", "name", "--rounds", "3"],
        ["--jobs", "10"],
    )
    assert split_at_dashes(["../before", "name"]) == (["../before", "name"], [])


def test_a_comma_behind_a_number_is_none_of_it() -> None:
    assert next(compare([run("10, 20 ms")], [run("10, 30 ms")])) == "10, 20 -> 30 (x 1.50) ms"
