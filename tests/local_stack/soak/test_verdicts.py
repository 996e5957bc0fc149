"""When does a soak say that the service stood it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from local_stack.soak import report
from local_stack.soak.sample import Sample
from local_stack.soak.verdicts import RunFacts, Verdict, verdicts

FINE = RunFacts(tick_seconds=5.0, contradictions=(), restarts=(), refused=(), real_steps=(40, 41))


def sample(seconds: float = 0.0, **changes: Any) -> Sample:
    values: Mapping[str, Any] = {
        "seconds": seconds,
        "live_jobs": 100,
        "memory_mib": {"api": 120.0, "control": 200.0},
        "cores": {"api": 0.1, "control": 0.05},
        "tick_seconds": (0.2,),
        "statements_per_tick": 48.0,
        "report_seconds": (0.02, 0.03),
        "reports_per_second": 20.0,
        "failures": {},
        "hearing_seconds": (),
        "api_seconds": (0.05,),
        "failed_reads": (),
        "oldest_queued_seconds": 2.0,
        "tasks_waiting": {"control": 0, "io": 1},
        "database_bytes": 10_000_000,
        "connections": 17,
        "api_threads": 18,
    }
    return Sample(**{**values, **changes})


def broken(found: list[Verdict]) -> list[str]:
    return [verdict.what for verdict in found if not verdict.holds]


def test_a_service_that_stays_as_it_is_stands_it() -> None:
    assert broken(verdicts([sample(second) for second in range(40)], FINE)) == []


def test_memory_that_grows_all_the_time_is_found() -> None:
    samples = [sample(n, memory_mib={"api": 100.0 + 20 * n, "control": 200.0}) for n in range(40)]
    assert broken(verdicts(samples, FINE)) == ["memory of api"]


def test_memory_that_grows_while_jobs_come_is_no_leak() -> None:
    samples = [sample(n, memory_mib={"api": min(100.0 + 20 * n, 400.0)}) for n in range(40)]
    assert broken(verdicts(samples, FINE)) == []


@pytest.mark.parametrize(
    ("what", "changes"),
    [
        ("oldest job that waits", {"oldest_queued_seconds": 300.0}),
        ("tasks in line", {"tasks_waiting": {"control": 50}}),
        ("a tick, p99", {"tick_seconds": (0.2, 9.0)}),
        ("a tick, p99", {"tick_seconds": ()}),
        ("statements of a tick, median", {"statements_per_tick": 2044.0}),
        ("a read of the api, p95", {"api_seconds": (3.0,)}),
        ("reports that failed", {"failures": {"HTTP 503": 1}}),
        ("reads that failed", {"failed_reads": ("/jobs: 500",)}),
    ],
)
def test_what_is_not_within_its_bound_is_named(what: str, changes: dict[str, Any]) -> None:
    samples = [sample(n, **changes) for n in range(10)]
    assert broken(verdicts(samples, FINE)) == [what]


@pytest.mark.parametrize(
    ("what", "changes"),
    [
        ("submits and orders that failed", {"refused": ("/jobs: 503",)}),
        ("contradictions in the database", {"contradictions": ("A GPU has two workers.",)}),
        ("processes that were started again", {"restarts": ("api",)}),
        ("steps of the real jobs", {"real_steps": (40, 0)}),
    ],
)
def test_what_no_sample_has_counts_as_well(what: str, changes: dict[str, Any]) -> None:
    beside = RunFacts(**{**{name: getattr(FINE, name) for name in FINE.__slots__}, **changes})
    assert broken(verdicts([sample(n) for n in range(10)], beside)) == [what]


def test_the_page_has_all_verdicts_and_a_chart_of_each_thing() -> None:
    samples = [sample(float(n)) for n in range(10)]
    found = verdicts(samples, FINE)
    page = report.page(samples, found, title="Soak: 100 jobs <b>")
    assert page.count("<svg") == 8
    assert all(verdict.what in page for verdict in found)
    assert "<b>" not in page
