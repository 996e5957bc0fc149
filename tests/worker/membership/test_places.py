"""Where is a worker's main thread, as its heartbeats say, and what counts as its own time?"""

from __future__ import annotations

import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import TensorDataset

from concertina_worker.job import ElasticJob
from concertina_worker.wire import ScriptPlace
from tests.worker.memory.job import MemoryJob
from tests.worker.running_job import wait_for

WAITED_SECONDS = 0.2


def test_after_a_mean_a_worker_is_again_where_it_was(tmp_path: Path) -> None:
    places: list[tuple[ScriptPlace, ...]] = []

    def script(job: ElasticJob, worker: str) -> None:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        job.register(model, optimizer)

        def place_after_a_mean() -> ScriptPlace:
            job.mean(1.0)
            return memory_job.place_of(worker)

        for _ in job.epochs(1):
            for (x,) in job.batches(TensorDataset(torch.ones(12, 2))):
                before = place_after_a_mean()
                model(x).mean().backward()
                exchanged = memory_job.place_of(worker)
                optimizer.step()
                places.append((before, exchanged, place_after_a_mean()))

    memory_job = MemoryJob(tmp_path, script, batch_size=4)
    memory_job.run(2)
    # Once the sum is there nobody is waited for: the script may evaluate or save there.
    assert set(places) == {(ScriptPlace.COMPUTING, ScriptPlace.WAITING, ScriptPlace.ELSEWHERE)}


def test_waiting_for_a_mean_is_no_time_of_a_workers_own(tmp_path: Path) -> None:
    arrivals: list[int] = []  # of the worker that waits

    def script(job: ElasticJob, worker: str) -> None:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        job.register(model, optimizer)

        def let_the_other_wait(step: int) -> None:
            wait_for(lambda: step in arrivals and memory_job.place_of("w1") is ScriptPlace.WAITING)
            since = time.monotonic()
            wait_for(lambda: time.monotonic() - since > WAITED_SECONDS)

        for _ in job.epochs(1):
            for step, (x,) in enumerate(job.batches(TensorDataset(torch.ones(12, 2)))):
                if worker == "w1":
                    arrivals.append(step)
                else:
                    let_the_other_wait(step)
                job.mean(1.0)
                model(x).mean().backward()
                optimizer.step()

    memory_job = MemoryJob(tmp_path, script, batch_size=4)
    memory_job.run(2)
    waited = [step.waited_seconds for step in memory_job.committed["w1"]]
    assert len(waited) == 3
    assert min(waited) > WAITED_SECONDS
