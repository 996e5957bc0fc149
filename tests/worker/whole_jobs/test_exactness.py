"""Elastic equals static: the same training comes out, whoever computed which part of it.

Random schedules run through the runtime's own loop, in one process; the parameters they end with
are compared with those of a plain loop over the same batches. In float64 within 1e-12, in float32
within 1e-5. Real processes: see `test_data_jobs`.
"""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import TensorDataset

from concertina_worker.job import ElasticJob
from concertina_worker.state import portions
from tests.campaigns import examples
from tests.worker.memory.job import MemoryJob
from tests.worker.memory.line import FOREVER, Hesitate
from tests.worker.whole_jobs.exact_training import (
    EPOCHS,
    SAMPLES,
    TOLERANCE,
    Recipe,
    Stream,
    adam,
    assert_every_sample_once,
    momentum,
    registered,
    shuffled_order,
    the_samples,
    trained_alone,
    two,
)

MOMENTS: Final = ("forward", "backward", "step", "between epochs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happens once a job has used so many samples, over all its epochs."""

    at: int
    workers: int | None = None
    batch_size: int | None = None
    death: str = ""  # the moment
    victim: int = 0
    too_many: int | None = None  # samples at once, for the memory of some worker
    stops: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    workers: int
    batch_size: int
    limit: int | None
    checkpoint_seconds: float
    hesitation: float  # how likely a thread is to let others get ahead of it
    changes: list[Change]


SIZES = st.integers(3, 20) | st.sampled_from([2, 37, 50])
CHANGES = st.builds(
    Change,
    at=st.integers(0, EPOCHS * SAMPLES - 1),
    workers=st.none() | st.integers(1, 5),
    batch_size=st.none() | SIZES,
    death=st.sampled_from(["", "", *MOMENTS]),
    victim=st.integers(0, 4),
    too_many=st.sampled_from([None, None, 4, 9]),
    stops=st.sampled_from([False, False, False, True]),
)
SCHEDULES = st.builds(
    Schedule,
    workers=st.integers(1, 5),
    batch_size=SIZES,
    limit=st.none() | st.integers(1, 12),
    checkpoint_seconds=st.sampled_from([0.0, FOREVER]),
    hesitation=st.sampled_from([0.0, 0.1, 0.3]),
    changes=st.lists(CHANGES, max_size=6),
)
RECIPES = st.sampled_from(
    [
        Recipe(optimizers=momentum),
        Recipe(optimizers=adam),
        Recipe(optimizers=momentum, clip=0.3, is_scaled=True),
        Recipe(optimizers=two, clip=0.5),
        Recipe(optimizers=two, is_scaled=True),
    ]
)


def hesitating(likely: float) -> Hesitate:
    chance = random.Random(SAMPLES)  # noqa: S311 - chance, no secret

    def hesitate(*_: object) -> None:
        if chance.random() < likely:
            time.sleep(chance.choice([0.0005, 0.003, 0.02]))

    return hesitate


class Fate:
    """Lets the changes of a schedule happen, each once, when the first worker comes to it."""

    def __init__(self, job: MemoryJob, changes: Sequence[Change]) -> None:
        self._job = job
        self._to_come = sorted(changes, key=lambda change: change.at, reverse=True)
        self._doomed: dict[str, str] = {}
        self._lock = threading.Lock()

    def come_to(self, samples: float, worker: str, moment: str) -> None:
        """Does not return when it is this worker's fate to die here."""
        with self._lock:
            while self._to_come and self._to_come[-1].at <= samples:
                self._happen(self._to_come.pop())
        if self._doomed.get(worker) == moment:
            self._job.die(worker)

    def _happen(self, change: Change) -> None:
        job = self._job
        if change.death and job.training and not job.is_stopping:
            victims = job.training
            self._doomed[victims[change.victim % len(victims)]] = change.death
        if change.too_many:
            job.run_out_of_memory(change.too_many)
        if change.stops:
            job.want_stop()
        elif change.workers or change.batch_size:
            job.want(change.workers, change.batch_size)


def trained_elastically(
    folder: Path, recipe: Recipe, dtype: torch.dtype, schedule: Schedule, *, is_stream: bool
) -> MemoryJob:
    samples = the_samples(dtype)

    def script(job: ElasticJob, worker: str) -> torch.Tensor:
        def pass_by(moment: str) -> None:
            fate.come_to(job.progress * SAMPLES, worker, moment)

        data: Any = Stream(*samples) if is_stream else TensorDataset(*samples)
        trainer = registered(job, recipe, dtype)
        for _ in job.epochs(EPOCHS):
            for x, y in job.batches(data):
                pass_by("forward")
                trainer.backward(x, y)
                pass_by("backward")
                trainer.step()
                pass_by("step")
            pass_by("between epochs")
            trainer.scheduler.step()
        return trainer.numbers()

    job = MemoryJob(
        folder,
        script,
        batch_size=schedule.batch_size,
        limit=schedule.limit,
        checkpoint_seconds=schedule.checkpoint_seconds,
        hesitate=hesitating(schedule.hesitation),
    )
    fate = Fate(job, schedule.changes)
    job.run(schedule.workers)
    return job


@pytest.fixture(autouse=True, scope="module")
def state_in_many_portions() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(portions, "PORTION_BYTES", 1)
        yield


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")  # overflow at once
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@examples(25)
@given(recipe=RECIPES, schedule=SCHEDULES, is_stream=st.booleans())
def test_any_schedule_trains_like_one_worker(
    recipe: Recipe,
    schedule: Schedule,
    is_stream: bool,  # noqa: FBT001 - hypothesis gives it by name
    dtype: torch.dtype,
) -> None:
    def order(epoch: int) -> list[int]:
        return [*range(SAMPLES)] if is_stream else shuffled_order(epoch)

    with tempfile.TemporaryDirectory() as folder:
        job = trained_elastically(Path(folder), recipe, dtype, schedule, is_stream=is_stream)
        steps = job.steps()
    assert_every_sample_once(steps)
    alone = trained_alone(recipe, dtype, steps, order)
    assert job.results  # of workers that end: one that missed the last sum makes that step alone
    for ours in job.results.values():
        assert (ours - alone).abs().max() <= TOLERANCE[dtype]
