"""A hundred workers are killed at moments a seed chooses: no step and no sample is lost.

But by the death of the only worker with state: then its steps since the last checkpoint are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from concertina_worker.protocol import GenerationReport
from tests.worker.conftest import MANY_EPOCHS
from tests.worker.running_job import RunningJob
from tests.worker.siege import ALONE, Siege, chosen_moments, table
from tests.worker.test_rescaling import assert_same_parameters
from tests.worker.worker_zygote import WorkerZygote

SEED: Final = 20_180_702
JOBS: Final = 4
DEATHS: Final = 100
SIDE_BY_SIDE: Final = 2  # more would wait for a processor rather than train


def besiege(folder: Path, zygote: WorkerZygote, *, number: int) -> Siege:
    """One job from its beginning to its end, through its part of the deaths."""
    dooms = ("--doom", str(folder / "dooms"))
    arguments = (*MANY_EPOCHS, *dooms, "--step-seconds", "0.01")
    job = RunningJob(folder, zygote, script_arguments=arguments, checkpoint_seconds=0.3)
    try:
        job.start_coordinator()
        job.begin_attempt(3)
        job.wait_for_workers(3)
        siege = Siege(job, seed=SEED + number)
        siege.suffer(chosen_moments(DEATHS, seed=SEED)[number::JOBS])
        job.end()
    finally:
        job.close()
    return siege


def losing_steps(siege: Siege) -> list[GenerationReport]:
    return [g for g in siege.job.service.generations if g.get("lost_steps")]


@pytest.mark.timeout(1800)
def test_a_hundred_deaths_at_random_moments_cost_no_step_and_no_sample(
    tmp_path: Path,
    zygote: WorkerZygote,
    undisturbed: Callable[..., dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        sieges = list(
            pool.map(
                lambda n: besiege(tmp_path / f"job{n}", zygote, number=n),
                range(JOBS),
            )
        )
    costs: dict[str, list[float]] = {}
    for siege in sieges:
        result, *others = [siege.job.result(member) for member in siege.job.members]
        siege.job.assert_every_sample_once(epochs=result["epochs"])
        assert_same_parameters(result, undisturbed(result["epochs"]), 1e-9)
        for other in others:
            assert_same_parameters(result, other, 0.0)
        assert siege.unreported == []
        alone = {kill.worker for kill in siege.kills if kill.moment == ALONE}
        assert all(alone & {*g["lost_workers"]} for g in losing_steps(siege))
        for moment, stalls in siege.costs().items():
            costs.setdefault(moment, []).extend(stalls)
    with capsys.disabled():
        sys.stdout.write(f"\n{table(costs)}\n")
