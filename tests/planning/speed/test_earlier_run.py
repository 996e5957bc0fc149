"""What counts of an earlier run's measurements beside a job's own?"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from autoscaler.planning.fitting.earlier_run import fit_with_earlier
from autoscaler.planning.fitting.fitting import fit
from autoscaler.planning.snapshot.cluster_state import StepTime
from autoscaler.planning.snapshot.job_terms import BatchRange

BATCH: Final = BatchRange(base=64, minimum=64, maximum=256)


def measured(workers: int, *, slower: float = 1.0, gpu_type: str = "a") -> StepTime:
    """A step of 64 samples, at nearly linear speedup."""
    seconds = (0.02 + 0.4 / workers) * slower
    return StepTime(
        workers=workers,
        nodes=1,
        global_batch_size=64,
        steps=20,
        step_seconds=seconds,
        gpu_type=gpu_type,
    )


EARLIER: Final = [measured(1), measured(4), measured(8)]


def test_a_job_that_measured_nothing_is_known_by_the_earlier_run() -> None:
    assert fit_with_earlier([], EARLIER, gpu_type="a") == fit(EARLIER, gpu_type="a")
    assert fit_with_earlier([], [], gpu_type="a") is None


def test_a_job_without_an_earlier_run_is_known_by_itself() -> None:
    assert fit_with_earlier(EARLIER, [], gpu_type="a") == fit(EARLIER, gpu_type="a")


def test_what_the_job_measured_replaces_the_same_configuration_of_the_earlier_run() -> None:
    own = measured(4, slower=1.2)
    found = fit_with_earlier([own], EARLIER, gpu_type="a", batch=BATCH)
    assert found == fit([own, measured(1), measured(8)], gpu_type="a", batch=BATCH)


@pytest.mark.parametrize("slower", [0.3, 3.0])
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_nothing_of_the_earlier_run_counts_once_it_is_contradicted(
    slower: float, workers: int
) -> None:
    own = [measured(workers, slower=slower)]
    found = fit_with_earlier(own, EARLIER, gpu_type="a", batch=BATCH)
    assert found == fit(own, gpu_type="a", batch=BATCH)


def test_another_gpu_type_contradicts_nothing() -> None:
    own = [measured(1, slower=5.0, gpu_type="b")]
    found = fit_with_earlier(own, EARLIER, gpu_type="a", batch=BATCH)
    assert found == fit([*own, *EARLIER], gpu_type="a", batch=BATCH)


def test_a_measurement_that_nobody_believes_contradicts_nothing() -> None:
    own = [replace(measured(1, slower=9.0), steps=1)]
    found = fit_with_earlier(own, EARLIER, gpu_type="a", batch=BATCH)
    assert found is not None
    assert found.measured_workers == 8
