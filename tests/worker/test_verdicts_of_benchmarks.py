"""What do the runtime's benchmarks conclude from what they measured? No training here."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import mean, stdev

import pytest

from benchmarks.accuracy.__main__ import TASKS, Outcome, Task, settings_of, table
from benchmarks.overhead.__main__ import PARTS, Contestant, overhead
from benchmarks.rescale_stall.results import CHANGES, Results, verdicts
from benchmarks.rescale_stall.timeline import Stall, Timeline

DIGITS, TRANSFORMER = TASKS


def shifted(values: list[float], *standard_errors: float) -> list[Outcome]:
    """The reference, then settings with the same spread whose means lie so far above its own."""
    of_difference = stdev(values) * (2 / len(values)) ** 0.5
    shifts = (0.0, *standard_errors)
    ours = [[value + shift * of_difference for value in values] for shift in shifts]
    return [Outcome(each, [100] * len(each), [20.0] * len(each)) for each in ours]


def words(task: Task, outcomes: list[Outcome], *rules: str) -> tuple[list[str], str]:
    """The verdict on each setting, and that on the range."""
    *lines, conclusion = table(task, rules, outcomes)
    rows = [line.split("|") for line in lines if line.startswith("|")][2:]
    assert len(rows) == len(settings_of(task, rules))
    return [row[4].strip(" *") for row in rows], conclusion.strip()


@pytest.mark.parametrize(
    ("task", "apart", "expected", "accepted"),
    [
        (DIGITS, (1.9, -1.9, 0.0), ["within", "within", "within"], "accepted."),
        (DIGITS, (2.1, -2.1, 0.0), ["better", "worse", "within"], "NOT accepted"),
        (TRANSFORMER, (2.1, -2.1, 0.0), ["worse", "better", "within"], "NOT accepted"),
        (TRANSFORMER, (0.0, 0.0, -2.1), ["within", "within", "better"], "NOT accepted"),
    ],
)
def test_a_range_is_accepted_when_no_mean_lies_two_standard_errors_apart(
    task: Task, apart: tuple[float, ...], expected: list[str], accepted: str
) -> None:
    told, conclusion = words(task, shifted([0.90, 0.91, 0.95], *apart))
    assert told == ["reference", *expected]
    assert conclusion.partition(":")[0] == f"The range {task.base} to {task.largest} is {accepted}"


def refusal(noise_scale: float) -> str:
    """What is said of the transformer's range, 16 to 128, when 128 comes out worse."""
    outcomes = shifted([0.90, 0.91, 0.95], 0.0, 2.1, 0.0)
    outcomes[0].noise_scales = [noise_scale] * 3
    return words(TRANSFORMER, outcomes)[1]


def test_a_range_is_refused_with_what_its_samples_are_worth() -> None:
    told = refusal(20.0)
    assert "at 128 each sample is worth 0.24 of one at 16, by a gradient noise of 20" in told
    assert told.endswith("So 100 samples in batches of 128 bring what 24 in batches of 16 do.")


def test_a_range_that_the_noise_supports_is_refused_for_another_reason() -> None:
    told = refusal(1000.0)
    assert "at 128 each sample is worth 0.9 of one at 16" in told
    assert "So the noise is not the reason" in told


def test_without_a_noise_scale_nobody_knows_why_a_range_is_refused() -> None:
    assert refusal(math.nan).endswith("and no gradient noise was measured that could tell why.")


def test_a_further_rule_neither_spoils_the_range_nor_widens_its_noise() -> None:
    outcomes = shifted([0.90, 0.91, 0.95], 1.0, -1.0, 1.0)
    wild = Outcome([0.1, 0.5, 0.9], [100] * 3, [20.0] * 3)
    told, conclusion = words(DIGITS, [*outcomes, wild], "none")
    assert told == ["reference", "within", "within", "within", "worse"]
    assert conclusion.endswith("is accepted.")


def test_means_without_any_noise_are_within_when_they_are_equal_only() -> None:
    outcomes = [Outcome([value] * 3, [100] * 3, [20.0] * 3) for value in (0.5, 0.5, 0.6, 0.5)]
    told, _ = words(DIGITS, outcomes)
    assert told == ["reference", "within", "better", "within"]


def contestant(name: str, workers: int, *, step: float, steps: int = 200) -> Contestant:
    """Two turns, in each of which a step takes now a little more, now a little less."""
    laps = [
        {"cpu": step, **dict.fromkeys(PARTS, step * wobble / len(PARTS))}
        for wobble in (0.9, 1.0, 1.0, 1.1)
    ]
    turn = laps * (steps // 8)
    return Contestant(name=name, workers=workers, turns=[turn, turn])


@pytest.mark.parametrize(
    ("workers", "theirs", "ours", "steps", "expected"),
    [
        (1, 0.100, 0.1019, 200, "+1.9% (target 2%: met)"),
        (1, 0.100, 0.1021, 200, "+2.1% (target 2%: NOT met)"),
        (2, 0.100, 0.1049, 200, "+4.9% (target 5%: met)"),
        (2, 0.100, 0.1051, 200, "+5.1% (target 5%: NOT met)"),
        (1, 0.100, 0.090, 192, "-10.0% (target 2%: not a valid run, 192 steps of 200)"),
        (1, 0.049, 0.060, 200, "+22.4% (target 2%: not a valid run, steps of 49 ms, not 50)"),
    ],
)
def test_overhead_is_judged_by_medians_of_enough_and_long_enough_steps(
    workers: int, theirs: float, ours: float, steps: int, expected: str
) -> None:
    reference = contestant("DDP", workers, step=theirs, steps=steps)
    told, where = overhead(reference, contestant("elastic", workers, step=ours, steps=steps))
    assert told.startswith(f"  {workers} x elastic against DDP: {expected};")
    difference = (ours - theirs) / len(PARTS) * 1e3
    assert where.strip() == f"where, in ms: {', '.join(f'{p} {difference:+.2f}' for p in PARTS)}"


def write_steps(folder: Path, process: int, *steps: tuple[int, float], workers: int = 1) -> None:
    lines = [f"{number} {workers} {at:.6f}\n" for number, at in steps]
    (folder / f"{process}.steps").write_text("".join(lines))


def evenly(first: int, count: int, *, since: float, every: float) -> list[tuple[int, float]]:
    return [(first + number, since + number * every) for number in range(count)]


def test_a_stall_is_the_longest_gap_round_the_change_less_a_median_step(tmp_path: Path) -> None:
    """Steps of 1 s before and of 2 s after it; the change is asked for at 10.5."""
    before = evenly(1, 11, since=0.0, every=1.0)
    write_steps(tmp_path, 1, *before, *evenly(12, 8, since=15.0, every=2.0))
    stall = Timeline(tmp_path).stall(since=10.5, are_survivors=True)
    assert (stall.longest, stall.step_before, stall.step_after) == (5.0, 1.0, 2.0)
    assert (stall.seconds, stall.over_step_before) == (3.0, 4.0)
    assert (stall.in_steps, stall.in_steps_before) == (1.5, 4.0)


def test_the_survivor_that_stood_longest_counts_and_nobody_who_came_or_went(tmp_path: Path) -> None:
    before = evenly(1, 11, since=0.0, every=1.0)
    for process, resumed_at in ((1, 12.0), (2, 14.0)):
        write_steps(tmp_path, process, *before, *evenly(12, 8, since=resumed_at, every=1.0))
    write_steps(tmp_path, 3, *before)  # left
    write_steps(tmp_path, 4, *evenly(12, 8, since=30.0, every=1.0))  # joined
    assert Timeline(tmp_path).stall(since=10.5, are_survivors=True).seconds == 3.0


def test_without_survivors_steps_made_again_are_no_progress(tmp_path: Path) -> None:
    """Ten steps, of which the newcomer repeats the last three: it stands until step 11."""
    write_steps(tmp_path, 1, *evenly(1, 10, since=1.0, every=1.0))
    write_steps(tmp_path, 2, *evenly(8, 10, since=20.0, every=1.0))
    stall = Timeline(tmp_path).stall(since=10.5, are_survivors=False)
    assert (stall.longest, stall.seconds) == (13.0, 12.0)


def results(*, rounds: int, ours: Stall, cold: Stall) -> Results:
    found = Results()
    for _ in range(rounds):
        for before, after in CHANGES:
            found.add("ours", before, after, ours)
            found.add("cold restart", before, after, cold)
    return found


def stall_of(seconds: float, *, before: float = 1.0, after: float = 1.0) -> Stall:
    """So much longer than the longer of the two steps."""
    return Stall(longest=max(before, after) + seconds, step_before=before, step_after=after)


@pytest.mark.parametrize(
    ("ours", "cold", "expected"),
    [
        (stall_of(0.09), stall_of(4.6), ["met", "met", "met", "met"]),
        (stall_of(0.11), stall_of(4.6), ["NOT met", "met", "met", "NOT met"]),
        (stall_of(0.09, after=2.0), stall_of(4.4), ["met", "met", "NOT met", "NOT met"]),
        (stall_of(1.1), stall_of(56.0), ["NOT met", "NOT met", "NOT met", "met"]),
    ],
)
def test_rescaling_is_judged_by_medians_and_leaving_by_both_measures(
    ours: Stall, cold: Stall, expected: list[str]
) -> None:
    lines = list(verdicts("small", results(rounds=5, ours=ours, cold=cold)))
    assert [line.rpartition(": ")[2].rstrip(")") for line in lines] == expected


def test_from_four_rounds_no_verdict_is_drawn() -> None:
    quick = results(rounds=4, ours=stall_of(0.0), cold=stall_of(9.0))
    assert list(verdicts("small", quick)) == ["  not a valid run: 4 of at least 5 rounds"]


def test_the_outcomes_of_a_setting_are_told_with_their_standard_error() -> None:
    outcomes = shifted([0.90, 0.91, 0.95], 0.0, 0.0, 0.0)
    row = next(line for line in table(DIGITS, (), outcomes) if "reference" in line)
    error = stdev([0.90, 0.91, 0.95]) / 3**0.5
    assert row.startswith(f"| 32 | {mean([0.90, 0.91, 0.95]):.4f} ± {error:.4f} | 0.0 |")
