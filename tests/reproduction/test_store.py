"""Is a simulation run once only, as long as the same code would run the same trial?"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from benchmarks.reproduction.experiments.founding_paper import simulation_settings, with_policy
from benchmarks.reproduction.lab import Lab, Trial
from benchmarks.reproduction.scale import QUICK
from benchmarks.reproduction.store import Store
from benchmarks.reproduction.workloads import Arrivals, three_kinds

SETTINGS = simulation_settings(QUICK.clusters[0], AdmissionVariant.QUEUEING)
TRIAL = Trial(
    trace=three_kinds(Arrivals.LOW, gpus=40, seconds=600.0, seed=0),
    candidate=with_policy(SETTINGS, "throughput", "throughput"),
)


@pytest.mark.timeout(120)
def test_what_was_run_before_is_taken_from_disk(tmp_path: Path) -> None:
    told = StringIO()
    other = replace(TRIAL, candidate=with_policy(SETTINGS, "throughput", "static"))
    with ThreadPoolExecutor(1) as pool:

        def lab() -> Lab:
            return Lab(pool=pool, console=Console(file=told), store=Store.within(tmp_path))

        first = lab().run("first", {"a": TRIAL})["a"]
        both = lab().run("second", {"a": TRIAL, "b": other})
    assert "first: 1 of 1 to do" in told.getvalue()
    assert "second: 1 of 2 to do" in told.getvalue()
    assert both["a"] == first
    assert both["b"].summary != first.summary


def test_results_of_other_code_are_thrown_away(tmp_path: Path) -> None:
    old = tmp_path / "0123456789abcdef"
    old.mkdir()
    Store.within(tmp_path)
    assert not old.exists()
