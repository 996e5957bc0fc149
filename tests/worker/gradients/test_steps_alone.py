"""Where may a script open a block, step its optimizer, and hold gradients back?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

from concertina_worker.environment import WorkerEnvironment
from concertina_worker.membership.alone import Alone
from concertina_worker.samples.source import source_of
from concertina_worker.samples.step_plan import Segment, StepPlan
from concertina_worker.state.training_state import TrainingState
from concertina_worker.training.gradients.blocks import StepBlockError, StepInsideBlockError
from concertina_worker.training.loop import TrainingLoop
from concertina_worker.training.script_objects.take_over import take_over_optimizer

ROWS = torch.arange(12, dtype=torch.float64).reshape(6, 2)


class Training:
    """One epoch of three steps of a worker alone, whose loss is the mean of w·row: d/dw = rows."""

    def __init__(self, *, momentum: float = 0.0, loads: dict[str, Any] | None = None) -> None:
        self.model = nn.Linear(2, 1, bias=False).double()
        nn.init.zeros_(self.model.weight)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1.0, momentum=momentum)
        if loads is not None:
            self.optimizer.load_state_dict(loads)
        state = TrainingState(self.model, [self.optimizer], {})
        self.alone = alone = Alone()
        alone.step_plan = StepPlan.steady(2, alone.worker)
        self.loop = TrainingLoop(WorkerEnvironment.read({}), alone, state, lambda *_: None)
        take_over_optimizer(self.optimizer, self.loop)
        alone.enter(self.loop)

    def steps(self) -> Iterator[torch.Tensor]:
        self.loop.begin_epoch(source_of(TensorDataset(ROWS), 2))
        while (share := self.loop.begin_step()) is not None:
            (rows,) = self.loop.load(share, 0)
            yield rows
            self.loop.close_step()
        self.loop.end_epoch()

    def backward(self, rows: torch.Tensor) -> None:
        self.model(rows).mean().backward()

    @property
    def weight(self) -> list[float]:
        return self.model.weight.detach().flatten().tolist()


def test_each_step_of_several_passes_uses_each_sample_as_often_as_it_passes() -> None:
    training = Training()
    for rows in training.steps():
        with training.loop.several_backwards():
            training.backward(rows)
            training.backward(rows)
        training.optimizer.step()
    assert training.weight == pytest.approx((-2 * ROWS.sum(0) / 2).tolist())


def test_alone_too_an_optimizer_goes_on_from_the_state_that_the_script_loaded() -> None:
    before = Training(momentum=0.9)
    for rows in before.steps():
        before.backward(rows)
        before.optimizer.step()
    after = Training(loads=before.optimizer.state_dict())
    one, other = (t.optimizer.state[t.model.weight]["momentum_buffer"] for t in (before, after))
    assert torch.equal(one, other)
    assert one.any()


def test_passes_that_are_held_back_count_with_the_one_that_follows() -> None:
    training = Training()
    for rows in training.steps():
        with training.loop.holding_back():
            training.backward(rows)
        training.backward(rows)
        training.optimizer.step()
    assert training.weight == pytest.approx((-2 * ROWS.sum(0) / 2).tolist())


def test_an_optimizer_does_not_step_inside_a_block() -> None:
    training = Training()
    rows = next(training.steps())
    with training.loop.several_backwards():
        training.backward(rows)
        with pytest.raises(StepInsideBlockError, match="behind the block"):
            training.optimizer.step()


def test_a_block_is_refused_outside_of_an_epoch() -> None:
    with pytest.raises(StepBlockError):
        Training().loop.several_backwards()


def test_a_lower_limit_of_a_leg_to_come_does_not_hold_before() -> None:
    training = Training()
    later = Segment(first_step=2, batch_size=2, workers=("alone",), batch_limit=1)
    epoch_data, alone = training.loop.epoch_data, training.alone
    alone.step_plan = alone.step_plan.then(later)
    limits = [epoch_data.planned_batch(step).division.limit for step in (2, 0)]
    assert limits == [1, None]
