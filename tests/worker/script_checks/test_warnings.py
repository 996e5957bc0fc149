"""What breaks elasticity is told: what is wrong, what to do, and where to read about it."""

from __future__ import annotations

import contextlib
import io
import math
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.testing._internal.distributed.fake_pg import FakeStore

from concertina_worker.manual import FOLDER, Section
from concertina_worker.protocol import BatchRules, ExitCode
from concertina_worker.training.script_checks import advice
from concertina_worker.training.script_checks.pitfalls import (
    ElasticityWarning,
    Pitfalls,
    ScriptError,
)
from concertina_worker.training.script_objects.take_over import (
    SeveralEvaluationsError,
    take_over_optimizer,
)
from tests.worker.running_job import RunningJob, alone_environment, wait_for
from tests.worker.worker_zygote import WorkerZygote

ROOT = Path(__file__).parents[3]
MISTAKEN = Path(__file__).parents[1] / "scripts" / "mistaken.py"


def sgd(*modules: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD([p for module in modules for p in module.parameters()], lr=0.1)


def scheduler_of(optimizer: torch.optim.Optimizer) -> Any:
    return torch.optim.lr_scheduler.StepLR(optimizer, 1)


def registered(model: nn.Module, optimizer: torch.optim.Optimizer, *schedulers: Any) -> list[str]:
    """Register; returns the warnings that the main worker says then."""
    pitfalls = Pitfalls()
    pitfalls.check_registration(model, [optimizer], schedulers)
    return said(pitfalls)


def said(pitfalls: Pitfalls, *, is_main: bool = True) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pitfalls.begin(lambda: is_main)
    assert all(warning.category is ElasticityWarning for warning in caught)
    return [str(warning.message) for warning in caught]


def test_what_belongs_together_is_registered_without_a_word() -> None:
    model = nn.Linear(2, 1)
    optimizer = sgd(model)
    assert registered(model, optimizer, scheduler_of(optimizer)) == []


def test_an_optimizer_of_another_model_is_refused() -> None:
    with pytest.raises(ScriptError, match="registered model does not have"):
        registered(nn.Linear(2, 1), sgd(nn.Linear(2, 1)))


def test_an_optimizer_that_is_given_more_parameters_later_is_refused() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    optimizer, pitfalls = sgd(model[0]), Pitfalls()
    pitfalls.check_registration(model, [optimizer], [])
    pitfalls.check_model(model)
    optimizer.add_param_group({"params": model[1].parameters()})
    with pytest.raises(ScriptError, match="add_param_group"):
        pitfalls.check_model(model)


def test_an_optimizer_made_anew_after_its_scheduler_is_refused() -> None:
    model = nn.Linear(2, 1)
    with pytest.raises(ScriptError, match="optimizer made anew"):
        registered(model, sgd(model), scheduler_of(sgd(model)))


class Wrapped(torch.optim.Optimizer):
    """An optimizer around another one, as Accelerate makes them."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.param_groups, self.defaults = optimizer.param_groups, optimizer.defaults


def test_a_scheduler_of_a_wrapped_optimizer_belongs_to_it() -> None:
    model = nn.Linear(2, 1)
    optimizer = sgd(model)
    assert registered(model, optimizer, scheduler_of(Wrapped(optimizer))) == []


def test_parameters_without_an_optimizer_are_told() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    (warning,) = registered(model, sgd(model[0]))
    assert "2 parameters want gradients" in warning


def test_frozen_parameters_need_no_optimizer() -> None:
    model = nn.Sequential(nn.Linear(2, 2).requires_grad_(False), nn.Linear(2, 1))
    assert registered(model, sgd(model[1])) == []


def test_a_scheduler_that_is_not_registered_is_told() -> None:
    model = nn.Linear(2, 1)
    optimizer = sgd(model)
    scheduler_of(optimizer)
    (warning,) = registered(model, optimizer)
    assert "scheduler is not registered" in warning


def test_synchronised_batch_normalisation_is_told() -> None:
    model = nn.SyncBatchNorm(2)
    (warning,) = registered(model, sgd(model))
    assert "SyncBatchNorm needs a process group" in warning


def test_data_parallel_wrappers_are_refused() -> None:
    model = nn.DataParallel(nn.Linear(2, 1))
    with pytest.raises(ScriptError, match=r"wrapped in DataParallel.*job\.ddp"):
        registered(model, sgd(model))


def test_a_sharded_model_is_refused_with_what_to_do_instead() -> None:
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    try:
        model = nn.Sequential(nn.Linear(4, 2))
        fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
        with pytest.raises(ScriptError, match=r"of 0\.weight this worker.*elastic\.mode: restart"):
            registered(model, sgd(model))
    finally:
        dist.destroy_process_group()


def test_a_model_whose_parameters_are_others_now_is_refused() -> None:
    model = nn.Linear(2, 1)
    pitfalls = Pitfalls()
    pitfalls.check_registration(model, [sgd(model)], [])
    pitfalls.check_model(model)
    model.to("meta")  # makes new parameters, where they cannot be moved in place
    with pytest.raises(ScriptError, match="replaced, added or removed"):
        pitfalls.check_model(model)


def test_an_optimizer_that_evaluates_several_times_is_refused() -> None:
    with pytest.raises(SeveralEvaluationsError):
        take_over_optimizer(torch.optim.LBFGS(nn.Linear(2, 1).parameters()), Any)


@pytest.mark.parametrize(
    "line",
    [
        'parser.add_argument("--rank", default=os.environ["RANK"])',
        "rank = int(os.environ.get( 'LOCAL_RANK', 0))",
        'size = os.getenv("WORLD_SIZE")',
    ],
)
def test_a_script_that_asks_the_environment_for_its_place_is_told(
    line: str, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"import os\n{line}\n")
    pitfalls = Pitfalls()
    pitfalls.check_source(script)
    (warning,) = said(pitfalls)
    assert f"{script}:2" in warning


def test_variables_of_the_scripts_own_are_its_own_business(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("# os.environ['RANK']\nos.environ['HOME']; RANK = {}['RANK']\n")
    pitfalls = Pitfalls()
    pitfalls.check_source(script)
    pitfalls.check_source(tmp_path / "nothing.py")
    assert said(pitfalls) == []


def lightning_module(**trained: Any) -> nn.Module:
    """As one stands in a fit of a Trainer that was told of a hundred batches."""
    module = nn.Linear(2, 1)
    usual = {"enable_validation": True, "check_val_every_n_epoch": 1, "val_check_batch": 100}
    module.__dict__["_trainer"] = SimpleNamespace(**{**usual, **trained})
    return module


@pytest.mark.parametrize(
    ("trained", "batches", "warns"),
    [
        ({}, 99, True),
        ({}, 100, False),
        ({"val_check_batch": math.inf}, 99, False),  # at the end of an epoch, whenever that is
        ({"val_check_batch": 10}, 99, False),
        ({"enable_validation": False}, 99, False),
        ({"check_val_every_n_epoch": None}, 99, False),  # counts on through epochs
    ],
)
def test_validation_for_which_an_epoch_is_too_short_is_told(
    trained: dict[str, Any], batches: int, *, warns: bool
) -> None:
    pitfalls = Pitfalls()
    pitfalls.check_validation(nn.Sequential(lightning_module(**trained)), batches)
    pitfalls.check_validation(nn.Linear(2, 1), batches)
    assert ["validation_step is never called" in text for text in said(pitfalls)] == [True] * warns


def test_only_the_main_worker_warns_and_once() -> None:
    pitfalls = Pitfalls()
    pitfalls.tell_no_step()
    pitfalls.tell_no_step()
    assert len(said(pitfalls)) == 1
    assert said(pitfalls, is_main=False) == []


def test_a_loss_scaler_that_was_not_given_to_the_job_gets_advice() -> None:
    error = AssertionError("No inf checks were recorded for this optimizer.")
    assert 'job.state("scaler", scaler)' in str(advice.on(error))
    assert advice.on(ValueError("something else")) is None


@pytest.mark.parametrize("section", Section, ids=lambda section: section.name)
def test_every_section_that_a_message_names_is_in_its_chapter(section: Section) -> None:
    headings = re.findall(r"^#+ (.+)$", (ROOT / section.page).read_text(), re.MULTILINE)
    assert section.heading in headings
    assert str(section) == f"{section.page}, “{section.heading}”"


ERRORS = {
    "reads the environment": "KeyError: 'WORLD_SIZE' In an elastic job: ask job.rank",
    "forms a process group": "In an elastic job: there is no process group",
    "forms a process group of its own": "called torch.distributed.init_process_group",
    "splits the data itself": "In an elastic job: there is no process group",
    "does not register": "Call job.register(model, optimizer) first.",
    "uses batches of its own": "optimizer.step() was called outside of",
    "changes the model": "parameters were replaced, added or removed",
}
BY_ITSELF = ["exits by itself", "raises its exit", "shows errors by itself"]
WARNINGS = {
    "reads the environment before": "WORLD_SIZE is read from the environment",
    "reads the number of workers early": (
        f"job.world_size was read before job.epochs began ({MISTAKEN}:"
    ),
    "sums its loss": "The loss is a sum over the samples of a batch",
    "counts samples": "CosineAnnealingLR is made for 80 steps, but this training makes 10",
    "forgets the optimizer": "passed without optimizer.step()",
}


@pytest.fixture
def mistaken(tmp_path: Path, zygote: WorkerZygote) -> Iterator[Any]:
    """Runs the script with a mistake in a job of one worker, until it ends."""
    jobs = []

    def run(mistake: str, batch: int = 8, rules: BatchRules | None = None) -> RunningJob:
        job = RunningJob(
            tmp_path, zygote, script=MISTAKEN, script_arguments=(mistake,), batch=rules
        )
        jobs.append(job)
        job.start_coordinator()
        job.service.want(job.start_workers(1, attempt=1), batch, new_attempt=True)
        job.wait("it has ended", lambda: job.exit_codes()["w1"] is not None)
        return job

    yield run
    for job in jobs:
        job.close()


@pytest.mark.parametrize("mistake", ERRORS)
def test_a_mistake_that_spoils_the_training_ends_it_and_says_why(
    mistake: str, mistaken: Any
) -> None:
    job = mistaken(mistake)
    assert job.exit_codes() == {"w1": 1}
    assert ERRORS[mistake].rpartition(": ")[2] in job.log_of("w1")
    assert FOLDER in job.log_of("w1")

    def error() -> str:
        workers = job.service.newest["workers"] if job.service.newest else []
        return str([worker.get("error", "") for worker in workers])

    job.wait("the service knows", lambda: ERRORS[mistake] in error())


@pytest.mark.parametrize("way", BY_ITSELF)
def test_a_script_that_handles_its_errors_itself_has_failed_all_the_same(
    way: str, mistaken: Any
) -> None:
    job = mistaken(way)
    assert job.exit_codes() == {"w1": 1}

    def error() -> str:
        workers = job.service.newest["workers"] if job.service.newest else []
        return str([worker.get("error", "") for worker in workers])

    job.wait("the service knows", lambda: "ValueError: could not convert string" in error())
    assert not job.service.newest["finished"]


@pytest.mark.parametrize("mistake", WARNINGS)
def test_a_mistake_that_may_be_meant_is_said_once_in_the_log(mistake: str, mistaken: Any) -> None:
    job = mistaken(mistake)
    assert job.exit_codes() == {"w1": 0}
    assert job.log_of("w1").count(WARNINGS[mistake]) == 1
    job.wait("the service knows", lambda: WARNINGS[mistake] in str(job.service.newest))
    assert re.search(r"mistaken\.py:\d+: ElasticityWarning", job.log_of("w1"))


@pytest.mark.parametrize("mistake", ["has a limit of its own", "none"])
def test_a_script_that_ends_before_its_epochs_are_worth_it_is_told(
    mistake: str, mistaken: Any
) -> None:
    rules = {"base": 8, "lr_scaling": "adascale", "lr_warmup_steps": 0, "max_per_gpu": None}
    job = mistaken(mistake, batch=16, rules=rules)
    assert job.exit_codes() == {"w1": 0}
    said = job.log_of("w1").count("of the 2 that job.epochs is to yield")
    assert said == (mistake == "has a limit of its own")


def test_a_batch_size_of_the_scripts_own_that_does_not_count_is_noted_once(mistaken: Any) -> None:
    job = mistaken("none", batch=16)
    assert job.exit_codes() == {"w1": 0}
    notice = "the job's batch of 16 is used; the script's own batch size of 8 counts only when"
    assert job.log_of("w1").count(notice) == 1


def test_a_batch_size_that_is_the_jobs_needs_no_word() -> None:
    pitfalls = Pitfalls()
    pitfalls.begin(lambda: True)
    written = io.StringIO()
    with contextlib.redirect_stderr(written):
        pitfalls.tell_batch_size(16, 16)
        pitfalls.tell_batch_size(None, 16)
    assert written.getvalue() == ""


def test_a_worker_whose_script_catches_its_exit_leaves_all_the_same(
    tmp_path: Path, zygote: WorkerZygote
) -> None:
    job = RunningJob(tmp_path, zygote, script=MISTAKEN, script_arguments=("catches the exit",))
    job.start_coordinator()
    job.service.want(job.start_workers(1, attempt=1), 8, new_attempt=True)
    job.wait_for_steps(3)
    job.service.want_stop()
    job.wait_until_finished()
    job.close()
    assert job.exit_codes() == {"w1": ExitCode.RELEASED}
    assert "The script caught the SystemExit" in job.log_of("w1")


def test_mistakes_are_found_without_the_platform_too(tmp_path: Path, zygote: WorkerZygote) -> None:
    log = tmp_path / "log"
    argv = [str(MISTAKEN), "uses batches of its own"]
    process = zygote.start(argv, alone_environment(), log)
    wait_for(lambda: process.poll() is not None)
    assert process.poll() == 1
    assert ERRORS["uses batches of its own"] in log.read_text()
