"""A line of a script tells numbers, or nothing; no line can do harm."""

from __future__ import annotations

import pytest

from autoscaler.script_reports.report_lines import (
    LONGEST_LINE,
    ScriptReport,
    report_in_json,
    report_in_log,
)
from jobs.spec.parts.logged_metrics import LoggedMetric

LOSS = LoggedMetric(name="loss", pattern="loss[= ]([0-9.e+-]+)")
STEP = LoggedMetric(name="step", pattern="step ([0-9,]+)")


def test_a_line_of_json_tells_its_step_and_what_else_is_in_it() -> None:
    line = '{"step": 7, "at": 3.5, "samples": 70, "total_steps": 90, "epoch": 0.5, "loss": 1.25}'
    assert report_in_json(line, written_at=9.0) == ScriptReport(
        at=3.5, step=7, samples=70, total_steps=90, epoch=0.5, values={"loss": 1.25}
    )


def test_a_line_without_a_time_is_of_when_it_was_written() -> None:
    assert report_in_json('{"step": 7}', written_at=9.0) == ScriptReport(at=9.0, step=7)


@pytest.mark.parametrize(
    "line",
    [
        *("", "step 7", "[7]", "{}", '{"step": "7"}', '{"step": -1}', '{"step": true}'),
        *('{"step": 1e300}', '{"step": NaN}', "[" * 100_000, '{"step": ' + "9" * 5000 + "}"),
    ],
)
def test_what_is_no_report_tells_nothing(line: str) -> None:
    assert report_in_json(line, written_at=9.0) is None


def test_what_makes_no_sense_is_left_out() -> None:
    line = '{"step": 7, "samples": -1, "loss": "low", "is_good": true, "a\\u0000b": 1}'
    assert report_in_json(line, written_at=9.0) == ScriptReport(at=9.0, step=7, values={"ab": 1.0})


def test_no_line_has_more_metrics_than_a_row_may_hold() -> None:
    names = ", ".join(f'"metric {number}": 1' for number in range(1000))
    told = report_in_json(f'{{"step": 1, {names}}}', written_at=0.0)
    assert told is not None
    assert len(told.values) == 64


def test_patterns_find_numbers_in_a_line_of_the_log() -> None:
    told = report_in_log("epoch 1 step 1,200 loss=2.5e-1", [LOSS, STEP], at=4.0)
    assert told == ScriptReport(at=4.0, step=1200, values={"loss": 0.25})
    assert report_in_log("loading", [LOSS, STEP], at=4.0) is None
    assert report_in_log("loss=...", [LOSS], at=4.0) is None


def test_what_stands_far_behind_in_a_line_is_not_looked_for() -> None:
    assert report_in_log(" " * LONGEST_LINE + "loss=1", [LOSS], at=4.0) is None


@pytest.mark.parametrize("pattern", ["(x+x+)+y", "(?:x*)*(y)", "(?:(?:a?){30}){30}(b)"])
def test_no_pattern_takes_longer_than_its_line_is_long(pattern: str) -> None:
    """An engine that backtracks would never come to an end here."""
    slow = LoggedMetric.model_construct(name="slow", pattern=pattern)
    assert report_in_log("x" * LONGEST_LINE, [slow], at=0.0) is None
