"""Where one worker's scaled gradient is no number, all skip the step, and its samples are used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from concertina_worker.protocol import BatchRules
from tests.worker.running_job import RunningJob, alone_environment, read_result, wait_for
from tests.worker.worker_zygote import WorkerZygote

SCRIPT = Path(__file__).parents[1] / "scripts" / "scaled_loss.py"
EPOCHS = 3
RULES: BatchRules = {"base": 8, "lr_scaling": "none", "lr_warmup_steps": 0, "max_per_gpu": 2}


def test_workers_skip_and_scale_together_in_micro_batches_as_one_does_alone(
    make_job: Callable[..., RunningJob], zygote: WorkerZygote, tmp_path: Path
) -> None:
    """A batch of 8 is 4 + 4 samples in micro-batches of 2; the last of an epoch is one sample."""
    job = make_job("--epochs", str(EPOCHS), batch=RULES)
    job.script = SCRIPT
    job.begin_attempt(2, batch=8)
    job.wait_until_finished()
    arguments = [str(SCRIPT), "--epochs", str(EPOCHS), "--out", str(tmp_path / "alone")]
    process = zygote.start(arguments, alone_environment(), tmp_path / "alone.log")
    wait_for(lambda: process.poll() is not None)

    alone = read_result(tmp_path / "alone", "alone")
    results = [job.result(worker) for worker in ("w1", "w2")]
    assert results[0] == results[1]
    assert results[0]["scale"] == alone["scale"]
    for parameter, expected in zip(results[0]["parameters"], alone["parameters"], strict=True):
        np.testing.assert_allclose(
            np.array(parameter), np.array(expected), rtol=0, atol=1e-12, equal_nan=False
        )
    job.assert_every_sample_once(epochs=EPOCHS, samples=41)
