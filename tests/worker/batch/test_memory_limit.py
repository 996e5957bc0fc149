"""What does not fit into memory is computed in smaller pieces, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from concertina_worker.batch.memory_limit import is_out_of_memory, largest_that_fits, smaller
from concertina_worker.coordinator import events as on
from concertina_worker.protocol import BatchRules, ExitCode
from concertina_worker.training.script_objects.warm_up import warm_up
from tests.worker.coordinator_story import Story
from tests.worker.running_job import RunningJob

HUNGRY = Path(__file__).parents[1] / "scripts" / "hungry.py"  # fits about 14 samples at once
MakeJob = Callable[..., RunningJob]


def real_error() -> BaseException:
    """What PyTorch says when the machine has no such memory."""
    with pytest.raises(RuntimeError) as raised:
        torch.empty(2**62, dtype=torch.uint8)
    return raised.value


@pytest.mark.parametrize(
    "error",
    [
        real_error(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        MemoryError(),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    ],
    ids=["cpu", "gpu", "python", "cublas"],
)
def test_running_out_of_memory_is_recognised(error: BaseException) -> None:
    assert is_out_of_memory(error)


@pytest.mark.parametrize(
    "error", [None, RuntimeError("shapes differ"), ValueError("out of memory")]
)
def test_other_errors_are_not_taken_for_it(error: BaseException | None) -> None:
    assert not is_out_of_memory(error)


def test_the_lower_limit_holds() -> None:
    assert [smaller(None, None), smaller(8, None), smaller(8, 3)] == [None, 8, 3]


def asking_for(tried: list[int], *, fits: int) -> Callable[[int], None]:
    def run(samples: int) -> None:
        tried.append(samples)
        if samples > fits:
            raise torch.OutOfMemoryError

    return run


def test_probing_halves_until_it_fits() -> None:
    tried: list[int] = []
    assert largest_that_fits(asking_for(tried, fits=13), 100) == 12
    assert tried == [100, 50, 25, 12]


def test_probing_gives_up_at_one_sample_and_at_other_errors() -> None:
    with pytest.raises(torch.OutOfMemoryError):
        largest_that_fits(asking_for([], fits=0), 8)
    with pytest.raises(ZeroDivisionError):
        largest_that_fits(lambda samples: samples / 0, 8)


def test_a_warm_up_that_takes_samples_probes_without_a_trace() -> None:
    model = torch.nn.BatchNorm1d(3)
    rules: BatchRules = {
        "base": 64, "lr_scaling": "none", "lr_warmup_steps": 0, "max_per_gpu": 32,
    }  # fmt: skip
    tried: list[int] = []
    run = asking_for(tried, fits=10)

    def forward(count: int) -> None:
        model(torch.rand(count, 3)).sum().backward()
        run(count)

    assert warm_up(forward, model, rules) == 16  # so at most 8 from now on
    assert tried == [32, 16, 8]
    assert model.running_mean is not None
    assert model.running_mean.tolist() == [0.0] * 3
    assert all(parameter.grad is None for parameter in model.parameters())


def test_plans_after_a_worker_ran_out_of_memory_tell_the_limit(story: Story) -> None:
    story.train("a", "b")
    for samples in (64, 9, 40):
        story.tell(on.RanOutOfMemory(worker="a", samples=samples))
    story.lose("a")
    assert story.plan.batch_limit == 4
    assert story.coordination.sync_report()["batch_limit"] == 4


def codes(job: RunningJob) -> list[int | None]:
    return list(job.exit_codes().values())


def epochs_of(job: RunningJob) -> int:
    return 1 + max(line["epoch"] for line in job.audit_lines())


def test_workers_that_all_run_out_of_memory_are_followed_by_frugal_ones(
    make_job: MakeJob, tmp_path: Path
) -> None:
    job = make_job("--two-fail-at", str(tmp_path / "failures"))
    job.script = HUNGRY
    job.begin_attempt(2, batch=40)  # shares of 20
    job.wait("both have given up", lambda: None not in codes(job))
    assert codes(job) == [ExitCode.OUT_OF_MEMORY] * 2, job.logs()
    job.wait("the limit is told", lambda: (job.service.newest or {}).get("batch_limit") == 10)
    job.service.want(job.start_workers(2), 40)
    job.wait_for_workers(2)
    job.wait_for_steps(4)
    job.end()
    assert codes(job)[2:] == [0, 0]
    assert {line["stop"] - line["start"] for line in job.audit_lines()} == {40, 17}
    job.assert_every_sample_once(epochs=epochs_of(job))


def test_a_lone_worker_whose_share_has_become_too_large_loses_no_step(make_job: MakeJob) -> None:
    job = make_job()
    job.script = HUNGRY
    job.begin_attempt(2)  # shares of 10
    job.wait_for_workers(2)
    job.wait_for_steps(4)
    job.resize(1)
    job.wait("it has given up", lambda: job.exit_codes()["w1"] is not None)
    assert job.exit_codes()["w1"] == ExitCode.OUT_OF_MEMORY, job.logs()
    assert "samples at once do not fit into memory; a worker with at most" in job.log_of("w1")
    steps_before = job.step
    job.service.want(job.start_workers(1), 20)
    job.wait_for_workers(1)
    job.wait_for_steps(4)
    job.end()
    audit = (job.folder / "audit" / "w3.jsonl").read_text().splitlines()
    assert json.loads(audit[0])["step"] == steps_before + 1
    job.assert_every_sample_once(epochs=epochs_of(job))


def test_probing_before_the_training_loses_no_worker(make_job: MakeJob) -> None:
    rules: BatchRules = {
        "base": 40, "lr_scaling": "none", "lr_warmup_steps": 0, "max_per_gpu": None,
    }  # fmt: skip
    job = make_job("--probes", batch=rules)
    job.script = HUNGRY
    job.begin_attempt(1, batch=40)
    job.wait_for_workers(1)
    job.wait_for_steps(2)
    job.end()
    assert job.exit_codes() == {"w1": 0}
    job.assert_every_sample_once(epochs=epochs_of(job))
