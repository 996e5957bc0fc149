"""What if the plan after the one by which a worker joins is there before the worker is in?"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

from concertina_worker.job import ElasticJob
from tests.worker.memory.job import MemoryJob
from tests.worker.memory.line import Seam
from tests.worker.running_job import wait_for

JOINER = "w2"
BATCH_SIZE = 4
NEXT_BATCH_SIZE = 6


@pytest.mark.parametrize("seam", [Seam.BUILT, Seam.WAIT])
def test_a_joiner_that_is_late_gets_in_all_the_same(seam: Seam, tmp_path: Path) -> None:
    def hesitate(worker: str, at: Seam) -> None:
        if (worker, at) == (JOINER, seam):
            wait_for(lambda: memory_job.newest_generation == 3)

    def script(job: ElasticJob, worker: str) -> None:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        job.register(model, optimizer)
        for _ in job.epochs(1):
            for step, (x,) in enumerate(job.batches(TensorDataset(torch.ones(60, 2)))):
                if worker == "w1" and step == 1:
                    memory_job.want_ready(2, seen_by=worker)
                    memory_job.want(batch_size=NEXT_BATCH_SIZE)
                model(x).mean().backward()
                optimizer.step()

    memory_job = MemoryJob(tmp_path, script, batch_size=BATCH_SIZE, hesitate=hesitate)
    memory_job.run(1)
    sizes = [len(step.batch) for step in memory_job.steps_of(JOINER)]
    assert NEXT_BATCH_SIZE in sizes
