"""How often do methods of the script's own objects run? Once per step, where it asks for it."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import StepLR
from torch.optim.swa_utils import AveragedModel

from concertina_worker.training.script_checks.pitfalls import ScriptError
from concertina_worker.training.script_objects.take_over import take_over_extra, take_over_scheduler


class ScriptPosition:
    """Of a training: whether the step is made, and how many base steps it stands for."""

    may_change_state = False
    scheduler_steps = 4

    @property
    def position(self) -> ScriptPosition:
        return self


class Average:
    """Of weights, as scripts write them themselves; also a schedule."""

    def __init__(self) -> None:
        self.updates = self.steps = 0

    def update(self, amount: int = 1) -> int:
        self.updates += amount
        return self.updates

    def step(self) -> None:
        self.steps += 1

    def state_dict(self) -> dict[str, Any]:
        return dict(vars(self))

    def load_state_dict(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


def taken_over(*once_per_step: str) -> tuple[Average, Any]:
    average, position = Average(), ScriptPosition()
    take_over_extra(average, position, once_per_step)  # type: ignore[arg-type]
    return average, position


def test_a_method_that_is_named_runs_where_a_step_is_made_and_nowhere_else() -> None:
    average, position = taken_over("update")
    assert average.update(3) is None
    position.may_change_state = True
    assert average.update(3) == 3
    assert average.updates == 3


def test_an_object_of_the_scripts_own_is_no_schedule_though_it_has_a_step() -> None:
    average, position = taken_over()
    average.step()
    position.may_change_state = True
    average.step()
    assert average.steps == 1


def test_a_schedule_of_the_scripts_own_counts_steps_of_the_base_batch() -> None:
    schedule = Average()
    take_over_scheduler(schedule, ScriptPosition())  # type: ignore[arg-type]
    schedule.step()
    assert schedule.steps == 4


def test_what_runs_once_per_step_is_no_part_of_the_state() -> None:
    average, _ = taken_over("update")
    assert average.state_dict() == {"updates": 0, "steps": 0}


def test_a_method_that_the_object_does_not_have_is_refused() -> None:
    with pytest.raises(ScriptError, match=r"Average has no method refresh"):
        taken_over("refresh")


def test_an_optimizer_is_given_to_register_and_not_kept_as_other_state() -> None:
    optimizer = SGD(nn.Linear(2, 1).parameters(), lr=0.1)
    with pytest.raises(ScriptError, match=r"job\.register"):
        take_over_extra(optimizer, ScriptPosition())  # type: ignore[arg-type]


def test_an_object_whose_methods_are_guarded_can_be_saved_whole() -> None:
    model = nn.Linear(2, 1)
    average, own = AveragedModel(model), Average()
    schedule = StepLR(SGD(model.parameters(), lr=0.1), 1)
    position: Any = ScriptPosition()
    take_over_extra(average, position)
    take_over_extra(own, position, ["update"])
    take_over_scheduler(schedule, position)
    file = io.BytesIO()
    torch.save([average, own, schedule], file)
    loaded = torch.load(io.BytesIO(file.getvalue()), weights_only=False)
    assert [type(one) for one in loaded] == [AveragedModel, Average, StepLR]
    assert loaded[0].state_dict().keys() == average.state_dict().keys()
    assert loaded[1].update() == 1  # as often as it is called
    own.update()
    assert own.updates == 0
