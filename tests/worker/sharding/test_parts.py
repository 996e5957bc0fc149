"""One worker's part, begun and lost in one process: from where, and what a script sees of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from concertina_worker.collective.group import alone
from concertina_worker.sharding.parts import ShardedParts
from concertina_worker.sharding.taking import take
from concertina_worker.sharding.world import PartsLostError, ShardWorld
from concertina_worker.state.checkpoints.row_file import RowFile
from concertina_worker.state.parts import KeptRows
from concertina_worker.state.plain_names import WeightsMismatchError
from concertina_worker.state.training_state import TrainingState
from tests.worker.sharding.test_refusals import a_model, shard

CPU = torch.device("cpu")


@dataclass
class Begun:
    """A training that one worker is in, and its objects."""

    model: nn.Sequential
    optimizer: torch.optim.Optimizer
    parts: ShardedParts
    kept: KeptRows | None = None
    state: TrainingState = field(init=False)

    def __post_init__(self) -> None:
        self.state = TrainingState(self.model, [self.optimizer], {}, self.parts)

    def begin(self) -> int:
        def begin() -> None:
            self.parts.kept = self.kept

        return self.parts.meet(alone("a"), self.state, begin, lambda: 0)

    def step(self) -> None:
        self.model(torch.ones(2, 4)).sum().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


def begun(model: Any, init: Any = None) -> Begun:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    return Begun(model, optimizer, take(model, [optimizer], shard, init, CPU))


@pytest.fixture(autouse=True)
def no_group_is_left() -> Iterator[None]:
    yield
    ShardWorld(CPU).end()


def values_of(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: one.full_tensor().clone() for name, one in model.state_dict().items()}


def test_it_begins_with_what_the_script_made() -> None:
    model = a_model()
    made = {name: one.clone() for name, one in model.state_dict().items()}
    training = begun(model)
    training.begin()
    assert training.parts.is_new
    torch.testing.assert_close(values_of(model), made, rtol=0, atol=0)


def test_a_model_without_values_is_initialised_once_its_rows_are_there() -> None:
    with torch.device("meta"):
        model = nn.Sequential(*a_model(), nn.BatchNorm1d(2))

    def init(sharded: nn.Module) -> None:
        for parameter in sharded.parameters():
            nn.init.constant_(parameter, 0.5)
        for buffer in sharded.buffers():
            buffer.fill_(1)

    training = begun(model, init)
    training.begin()
    assert all((one.full_tensor() == 0.5).all() for one in model.parameters())
    assert all((one == 1).all() for one in model.buffers())
    training.model.eval()
    training.step()


def test_a_checkpoint_brings_all_back_and_weights_alone_the_model(tmp_path: Path) -> None:
    training = begun(a_model())
    training.begin()
    training.step()
    held = training.parts.hold()
    for name, rows in (("weights", held.weights), ("moments", held.optimizers)):
        RowFile.for_writing(tmp_path / name, rows, {}).write(rows)
    training.step()
    after_two = values_of(training.model)

    again = begun(a_model())
    again.kept = KeptRows(weights=tmp_path / "weights", optimizers=tmp_path / "moments")
    again.parts.take_small(held.small)
    again.begin()
    assert not again.parts.is_new
    again.step()  # with the moments of the first
    torch.testing.assert_close(values_of(again.model), after_two, rtol=0, atol=0)

    other = begun(a_model())
    other.kept = KeptRows(weights=tmp_path / "weights", skip=("1.*",))
    made = other.parts.model.names
    other.begin()
    assert other.parts.is_new
    weights = {one.name: one.rows for one in held.weights}
    assert [name for name in made if torch.equal(values_of(other.model)[name], weights[name])] == [
        "0.weight",
        "0.bias",
    ]


def test_weights_of_another_model_are_refused_by_name(tmp_path: Path) -> None:
    training = begun(a_model())
    training.begin()
    held = training.parts.hold()
    RowFile.for_writing(tmp_path / "weights", held.weights, {}).write(held.weights)
    other = begun(nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 2)))
    other.kept = KeptRows(weights=tmp_path / "weights")
    with pytest.raises(WeightsMismatchError, match=r"0\.weight has 6 x 4, here 5 x 4"):
        other.begin()


def test_what_was_lost_cannot_begin_anew_without_a_checkpoint() -> None:
    training = begun(a_model())
    training.begin()
    with pytest.raises(PartsLostError, match="no checkpoint has that"):
        training.begin()


def test_samples_of_others_leave_nothing_in_a_sum_not_even_of_an_overflow() -> None:
    world = ShardWorld(CPU)
    world.begin(alone("a"))
    world.weight, room = 0.0, torch.ones(2)
    world.scatter_sum(room, torch.tensor([math.inf, math.nan]))
    assert not room.any()


def test_what_does_not_fit_into_memory_is_no_loss_of_a_worker_which_would_come_again() -> None:
    class Full:
        def gather(self, *_: object) -> None:
            raise torch.OutOfMemoryError("out of memory")

    world = ShardWorld(CPU)
    world.begin(replace(alone("a"), everyone=Full()))
    world.is_in_step = True
    with pytest.raises(torch.OutOfMemoryError):
        world.gather(torch.ones(2), torch.ones(2))
    assert not world.has_failed


def test_a_loss_is_quiet_in_a_step_and_an_error_elsewhere() -> None:
    training = begun(a_model())
    training.begin()
    world, room = training.parts.world, torch.ones(3)
    training.parts.begin_step()
    world.fail()
    world.gather(room, torch.ones(3))
    assert training.parts.has_failed
    assert not room.any()
    training.parts.end_steps()
    with pytest.raises(PartsLostError, match="while no step was under way"):
        world.gather(room, torch.ones(3))
    training.parts.rehearse()
    world.gather(room, torch.ones(3))
