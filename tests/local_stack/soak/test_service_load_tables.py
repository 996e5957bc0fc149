"""How is a measured service held against its goals, and against another checkout?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.service_load import goals, growth
from benchmarks.service_load.measurement import Measurement


def measured(**changes: Any) -> Measurement:
    values: dict[str, Any] = {
        "jobs": 100,
        "running": 100,
        "machine": "2 cores",
        "load": 1.0,
        "submit_ms": 10.0,
        "submits_per_second": 90.0,
        "bulk_ms": None,
        "reports_per_second": 20.0,
        "failed_reports": 0,
        "report_ms": 5.0,
        "report_statements": 3.03,
        "report_seconds_p95": 0.05,
        "hearing_seconds_p95": None,
        "hearing_parts_p95": {"until it is woken": 0.02, "until it asks": None},
        "ticks": 6,
        "tick_statements": 48.0,
        "tick_ms": 200.0,
        "tick_seconds_p50": 0.2,
        "tick_seconds_p99": 0.4,
        "changing_tick_statements": 100.0,
        "changing_tick_seconds_p99": 0.5,
        "cores": {"api": 0.1, "io": 0.1, "simulator": 0.5},
        "connections": {"concertina_api": 10},
        "threads": {"api": 18},
        "memory_mib": {"api": 120.0, "simulator": 20.0},
        "gigabytes_per_day": 2.0,
        "growth": {"jobs_event": 0.5, "jobs_metricpoint": 1.5},
        "reads": {
            "/jobs": dict.fromkeys(("p95_seconds", "ms", "statements", "bytes", "failed"), 0)
        },
    }
    return Measurement(**{**values, **changes})


def row(what: str, lines: list[str]) -> list[str]:
    (found,) = [line for line in lines if line.startswith(f"| {what} |")]
    return [cell.strip() for cell in found.strip("|").split("|")][1:]


def test_a_goal_is_met_missed_or_not_seen() -> None:
    lines = list(goals.lines(measured(tick_statements=2044.0)))
    assert row("a tick, statements", lines) == ["at most 60", "**2,044**", "no"]
    assert row("a report, statements", lines) == ["at most 3", "3.03", "yes"]
    assert row("submits in one request that two cores take", lines)[1:] == ["–", ""]  # noqa: RUF001
    assert row("submits, one by one, that two cores take", lines)[1:] == ["200 /s", "yes"]


def test_the_simulator_is_not_the_service() -> None:
    assert measured().service_cores == 0.2
    assert measured().report_cores == 0.1


def test_a_measurement_is_read_as_it_was_written(tmp_path: Path) -> None:
    one = measured()
    assert Measurement.of(one.document()) == one
    growth.draw([one, measured(running=300)], tmp_path)
    assert len(list(tmp_path.glob("service-load-*.svg"))) == len(growth.CHARTS)


def test_several_sizes_stand_side_by_side() -> None:
    lines = list(goals.overview([measured(), measured(jobs=300, running=300)]))
    assert lines[0].endswith("| 100 jobs | 300 jobs |")
    assert row("running jobs", lines) == ["", "100 jobs", "300 jobs"]
