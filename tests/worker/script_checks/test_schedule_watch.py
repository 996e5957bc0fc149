"""A schedule that does not end with the training is told of as soon as it moves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler as schedulers

from concertina_worker.training.script_checks import schedule_watch
from concertina_worker.training.script_checks.schedule_watch import ScheduleWatch, TrainingLength

EPOCHS, STEPS = 10, 100
TOTAL = EPOCHS * STEPS
Optimizer = torch.optim.Optimizer
Making = Callable[[Optimizer], Any]


def warm_up_then(total: int, optimizer: Optimizer) -> Any:
    warm_up = schedulers.LinearLR(optimizer, total_iters=50)
    cosine = schedulers.CosineAnnealingLR(optimizer, total - 50)
    return schedulers.SequentialLR(optimizer, [warm_up, cosine], [50])


def one_cycle(total: int, optimizer: Optimizer) -> Any:
    return schedulers.OneCycleLR(optimizer, 0.1, total_steps=total)


def cosine(total: int, optimizer: Optimizer) -> Any:
    return schedulers.CosineAnnealingLR(optimizer, total)


def to_nothing(total: int, optimizer: Optimizer) -> Any:
    return schedulers.LinearLR(optimizer, 1.0, 0.0, total)


def of_transformers(total: int, optimizer: Optimizer) -> Any:
    from transformers import (  # noqa: PLC0415 - a second, which collecting need not take
        get_linear_schedule_with_warmup,
    )

    return get_linear_schedule_with_warmup(optimizer, 10, total)


def chained(total: int, optimizer: Optimizer) -> Any:
    return schedulers.ChainedScheduler(
        [schedulers.ExponentialLR(optimizer, 0.99), cosine(total, optimizer)]
    )


def polynomial(total: int, optimizer: Optimizer) -> Any:
    return schedulers.PolynomialLR(optimizer, total)


KINDS = [one_cycle, cosine, to_nothing, of_transformers, chained, polynomial, warm_up_then]
WITHOUT_AN_END: dict[str, Making] = {
    "steps": lambda o: schedulers.StepLR(o, 7),
    "a function": lambda o: schedulers.LambdaLR(o, lambda n: 1 / (n + 1)),
    "restarts": lambda o: schedulers.CosineAnnealingWarmRestarts(o, 30),
    "a warm-up": lambda o: schedulers.LinearLR(o, total_iters=50),
    "falls, then stays": lambda o: schedulers.LinearLR(o, 1.0, 0.1, 50),
}


def warnings_of(
    making: Making, *, is_in_epoch: bool = True, steps: int | None = STEPS
) -> list[str]:
    optimizer = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=0.1)
    scheduler, said = making(optimizer), list[str]()
    watch = ScheduleWatch(lambda text, _: said.append(text))
    watch.begin_epoch([scheduler, nn.Linear(1, 1)])
    length = TrainingLength(epochs=EPOCHS, steps_per_epoch=steps)
    watch.look(length, is_in_epoch=True)  # of a smaller batch: none of the base batch is complete
    assert watch.is_looking
    optimizer.step()
    scheduler.step()
    watch.look(length, is_in_epoch=is_in_epoch)
    assert not watch.is_looking
    return said


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("total", [TOTAL // 2, TOTAL * 95 // 100, TOTAL * 105 // 100, 64 * TOTAL])
def test_a_total_of_another_length_is_told(kind: Any, total: int) -> None:
    (said,) = warnings_of(partial(kind, total))
    assert f"is made for {total} steps, but this training makes {TOTAL}" in said


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("total", [TOTAL * 98 // 100, TOTAL, TOTAL * 102 // 100])
def test_the_right_total_or_nearly_is_not(kind: Any, total: int) -> None:
    assert warnings_of(partial(kind, total)) == []


@pytest.mark.parametrize("kind", WITHOUT_AN_END)
def test_a_schedule_without_an_end_of_its_own_is_not(kind: str) -> None:
    assert warnings_of(WITHOUT_AN_END[kind]) == []


def test_one_that_is_stepped_between_epochs_counts_epochs() -> None:
    for total in (EPOCHS - 1, EPOCHS):
        assert warnings_of(partial(cosine, total), is_in_epoch=False) == []
    (said,) = warnings_of(partial(cosine, TOTAL), is_in_epoch=False)
    assert "makes 10 of them (epochs)" in said


def test_of_a_stream_whose_end_nobody_knows_nothing_is_said() -> None:
    assert warnings_of(partial(cosine, TOTAL // 2), steps=None) == []


def test_a_script_that_ends_itself_may_be_through_sooner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "train.py"
    script.write_text("if step == 500:\n    job.finish()\n")
    main = schedule_watch.sys.modules["__main__"]
    monkeypatch.setattr(main, "__file__", str(script), raising=False)
    assert warnings_of(partial(cosine, TOTAL // 2)) == []
    assert len(warnings_of(partial(cosine, TOTAL * 2))) == 1
