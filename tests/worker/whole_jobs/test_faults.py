"""Workers are killed at moments a seed chooses, a hundred: no step and no sample is lost.

But by the death of the only worker with state: then its steps since the last checkpoint are.
The suite takes a sample with each kind of death in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from concertina_worker.protocol import GenerationReport
from tests import campaigns
from tests.worker.conftest import MANY_EPOCHS
from tests.worker.running_job import RunningJob
from tests.worker.whole_jobs.siege import ALL, ALONE, Siege, chosen_moments, table
from tests.worker.whole_jobs.test_rescaling import assert_same_parameters
from tests.worker.worker_zygote import WorkerZygote

SEED: Final = 20_180_702
SIDE_BY_SIDE: Final = 2  # more would wait for a processor rather than train


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """So many deaths, shared out over so many jobs."""

    deaths: int
    jobs: int


WHOLE: Final = Campaign(deaths=100, jobs=4)
SAMPLE: Final = Campaign(deaths=len(ALL), jobs=2)


def besiege(folder: Path, zygote: WorkerZygote, campaign: Campaign, *, number: int) -> Siege:
    """One job from its beginning to its end, through its part of the deaths."""
    dooms = ("--doom", str(folder / "dooms"))
    arguments = (*MANY_EPOCHS, *dooms, "--step-seconds", "0.01")
    job = RunningJob(folder, zygote, script_arguments=arguments, checkpoint_seconds=0.3)
    try:
        job.start_coordinator()
        job.begin_attempt(3)
        job.wait_for_workers(3)
        siege = Siege(job, seed=SEED + number)
        siege.suffer(chosen_moments(campaign.deaths, seed=SEED)[number :: campaign.jobs])
        job.end()
    finally:
        job.close()
    return siege


def losing_steps(siege: Siege) -> list[GenerationReport]:
    return [g for g in siege.job.service.generations if g.get("lost_steps")]


@pytest.mark.timeout(1800)
def test_deaths_at_random_moments_cost_no_step_and_no_sample(
    tmp_path: Path,
    zygote: WorkerZygote,
    undisturbed: Callable[..., dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    campaign = WHOLE if campaigns.are_whole() else SAMPLE
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        sieges = list(
            pool.map(
                lambda n: besiege(tmp_path / f"job{n}", zygote, campaign, number=n),
                range(campaign.jobs),
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
