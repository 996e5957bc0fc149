"""After a copy two workers cannot be told apart: laggards, fresh starts and joiners."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from concertina_worker.collective.group import Group
from concertina_worker.state import optimizer_state
from concertina_worker.state.training_state import CheckpointMismatchError, TrainingState
from tests.worker.gathering import a_plan, gather
from tests.worker.state.state_samples import (
    ALL,
    OPTIMIZERS,
    a_state,
    assert_equal,
    begin_handover,
    synchronise_all,
)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_laggards_copy_from_the_furthest(optimizer: str) -> None:
    states = {
        "a": a_state(seed=1, steps=3, optimizer=optimizer),
        "b": a_state(seed=1, steps=4, optimizer=optimizer),
        "c": a_state(seed=2, optimizer=optimizer),  # was about to join
    }
    before = states["b"].to_checkpoint()
    synchronise_all(states)
    assert_equal(states["a"], states["b"])
    assert_equal(states["c"], states["b"])
    assert states["b"].step == 4
    assert torch.equal(before["model"]["0.weight"], states["b"].model.get_parameter("0.weight"))


def test_what_is_frozen_and_what_is_trained_belongs_to_the_state() -> None:
    states = {"a": a_state(seed=1, steps=3), "b": a_state(seed=2)}
    states["a"].model.get_parameter("0.weight").requires_grad_(False)
    states["a"].trained = (True,) * 6
    synchronise_all(states)
    resumed = a_state(seed=4)
    resumed.load_checkpoint(states["a"].to_checkpoint())
    for state in (states["b"], resumed):
        frozen = [name for name, p in state.model.named_parameters() if not p.requires_grad]
        assert frozen == ["0.weight"]
        assert state.trained == states["a"].trained


def test_survivors_of_the_same_step_agree_on_schedules_and_copy_nothing_large() -> None:
    states = {name: a_state(seed=1, steps=3) for name in "ab"}
    scheduler: Any = states["b"].extras["scheduler"]
    scheduler.step()  # it heard a mean that the other did not
    weight = states["b"].model.get_parameter("0.weight")
    weight.data[0, 0] += 1.0  # to see whether it is written over
    synchronise_all(states)
    assert states["a"].to_checkpoint()["extras"] == states["b"].to_checkpoint()["extras"]
    rates = [state.optimizers[0].param_groups[0]["lr"] for state in states.values()]
    assert rates[0] == rates[1]
    assert weight[0, 0] == states["a"].model.get_parameter("0.weight")[0, 0] + 1.0


def test_a_fresh_training_starts_from_the_weights_of_rank_0() -> None:
    states = {"a": a_state(seed=1), "b": a_state(seed=2)}
    weights = states["a"].model.get_parameter("0.weight").clone()
    synchronise_all(states)
    assert_equal(states["a"], states["b"])
    assert torch.equal(states["b"].model.get_parameter("0.weight"), weights)
    assert states["a"].step == 0
    assert not states["b"].optimizers[0].state


def test_a_resumed_training_starts_from_the_checkpoint() -> None:
    checkpoint = a_state(seed=3, steps=5).to_checkpoint()
    states = {"a": a_state(seed=1), "b": a_state(seed=2)}
    synchronise_all(states, checkpoint)
    assert_equal(states["a"], states["b"])
    assert states["b"].step == 5


def test_a_checkpoint_of_another_model_is_refused_with_a_reason() -> None:
    checkpoint = a_state(seed=3, steps=1).to_checkpoint()
    model = nn.Linear(2, 2)
    other = TrainingState(model, [torch.optim.SGD(model.parameters(), lr=0.1)], {})
    with pytest.raises(CheckpointMismatchError, match="Missing key"):
        other.load_checkpoint(checkpoint)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_joiners_receive_what_the_source_holds(optimizer: str) -> None:
    states = {
        "a": a_state(seed=1, steps=3, optimizer=optimizer),
        "b": a_state(seed=1, steps=3, optimizer=optimizer),
        "c": a_state(seed=2, optimizer=optimizer),
        "d": a_state(seed=4, optimizer=optimizer),
    }

    def hand_over(group: Group) -> None:
        if group.is_source or group.is_joiner:
            handover = begin_handover(group, states[group.worker])
            while not handover.stop():
                handover.go_on()

    gather(a_plan("abcd", "cd"), hand_over)
    assert_equal(states["a"], states["c"])
    assert_equal(states["a"], states["d"])


def test_a_joiner_whose_source_is_lost_begins_with_the_weights_it_had() -> None:
    source, joiner, as_it_was = a_state(seed=1, steps=3), a_state(seed=2), a_state(seed=2)
    joiner.keep()
    joiner.take_header(source.header())
    for ours, others in list(zip(joiner.tensors(), source.tensors(), strict=True))[:5]:
        ours.data.copy_(others)
    synchronise_all({"b": joiner})
    as_it_was.begin_afresh()
    assert_equal(joiner, as_it_was)


def loaded_state() -> TrainingState:
    """Of a script that has loaded weights and the optimizer's state, and is registered."""
    source = a_state(seed=1, steps=3)
    state = TrainingState(source.model, source.optimizers, source.extras)
    state.allocate()
    return state


def assert_equals_what_was_loaded(state: TrainingState) -> None:
    loaded = loaded_state()
    loaded.is_complete = True
    assert_equal(state, loaded)


def test_optimizer_state_that_the_script_loaded_is_what_a_training_begins_with() -> None:
    states = {name: loaded_state() for name in "ab"}
    states["b"].optimizers[0].state.clear()
    synchronise_all(states)
    for state in states.values():
        assert_equals_what_was_loaded(state)


def test_optimizer_state_that_the_script_loaded_is_kept_when_a_source_is_lost() -> None:
    joiner = loaded_state()
    joiner.keep()
    joiner.take_header(a_state(seed=2, steps=5).header())
    for tensor in joiner.tensors():
        tensor.data.zero_()
    synchronise_all({"a": joiner})
    assert_equals_what_was_loaded(joiner)


def test_a_laggard_whose_source_is_lost_goes_back_to_its_own_step() -> None:
    source, laggard = a_state(seed=1, steps=4), a_state(seed=1, steps=3)
    before = laggard.to_checkpoint()
    laggard.keep()
    laggard.take_header(source.header())
    laggard.model.get_parameter("0.weight").data.zero_()
    assert not laggard.is_complete
    synchronise_all({"b": laggard})
    assert laggard.is_complete
    assert laggard.step == 3
    assert torch.equal(before["model"]["0.weight"], laggard.model.get_parameter("0.weight"))


@pytest.mark.parametrize("optimizer", ALL)
def test_allocating_optimizer_state_changes_no_parameter(optimizer: str) -> None:
    model = nn.Linear(3, 2)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    chosen = ALL[optimizer](model.parameters())
    optimizer_state.allocate(chosen)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert chosen.param_groups[0]["lr"] == 0.01
