"""Joiners get state while all train on, and nobody can tell them apart afterwards."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from concertina_worker.collective.group import Group, GroupLostError
from concertina_worker.state import optimizer_state, portions
from concertina_worker.state.description import OtherModelError
from concertina_worker.state.digest import digest
from concertina_worker.state.handover import Handover
from concertina_worker.state.recovery import synchronise
from concertina_worker.state.training_state import TrainingState
from tests.worker.gathering import a_plan, gather
from tests.worker.state.state_samples import (
    IN_PORTIONS,
    a_state,
    assert_equal,
    begin_handover,
    synchronise_all,
)


def hand_over_while_training(
    states: dict[str, TrainingState],
    *,
    steps: int = 40,
    after_step: Callable[[TrainingState], None] = lambda _: None,
) -> dict[str, int | None]:
    """Every worker makes the same steps meanwhile, at any pace; returns how many it took."""

    def train(group: Group) -> int | None:
        state = states[group.worker]
        generator = torch.Generator().manual_seed(9)
        handover = begin_handover(group, state)
        for step in range(1, steps + 1):
            handover.go_on()
            for parameter in state.model.parameters():
                parameter.grad = torch.rand(parameter.shape, generator=generator)
            is_over = handover.stop()
            state.optimizers[0].step()
            state.extras["scheduler"].step()  # type: ignore[attr-defined]
            state.step += 1
            after_step(state)
            if is_over:
                return step
        return None

    return gather(a_plan("ab", "b"), train)


def go_by_single_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them, six in most models here, is a portion by itself."""
    monkeypatch.setattr(portions, "PORTION_BYTES", 1)


@pytest.mark.parametrize("optimizer", IN_PORTIONS)
def test_a_joiner_makes_the_steps_that_pass_while_its_state_arrives(
    optimizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_by_single_parameters(monkeypatch)
    monkeypatch.setattr(Handover, "_goes_on", lambda _: False)  # a portion a step
    states = {
        "a": a_state(seed=1, steps=3, optimizer=optimizer),
        "b": a_state(seed=2, optimizer=optimizer),
    }
    assert hand_over_while_training(states) == {"a": 6, "b": 6}
    assert states["a"].step == 3 + 6
    assert_equal(states["a"], states["b"])


def test_as_many_portions_arrive_during_a_step_as_there_is_time_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_by_single_parameters(monkeypatch)
    states = {"a": a_state(seed=1, steps=3), "b": a_state(seed=2)}
    taken = hand_over_while_training(states)
    assert taken["a"] == taken["b"]
    assert taken["a"] in range(1, 7)
    assert states["a"].step == 3 + taken["a"]
    assert_equal(states["a"], states["b"])


@pytest.mark.parametrize("reason", ["an optimizer that mixes parameters", "an unknown extra"])
def test_state_that_would_be_spoilt_arrives_before_the_first_step(
    reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_by_single_parameters(monkeypatch)
    optimizer = "adam" if "extra" in reason else "coupled"
    states = {
        "a": a_state(seed=1, steps=3, optimizer=optimizer),
        "b": a_state(seed=2, optimizer=optimizer),
    }
    if "extra" in reason:
        for state in states.values():
            state.extras["average"] = nn.Linear(2, 2).requires_grad_(requires_grad=False)
    assert hand_over_while_training(states) == {"a": 1, "b": 1}
    del states["a"].extras["scheduler"]
    assert states["a"].is_complete
    for one, other in zip(states["a"].tensors(), states["b"].tensors(), strict=True):
        assert torch.equal(one, other)


def test_before_optimizer_state_is_there_all_weights_arrive_before_the_first_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is made of the weights, by optimizers that decay them."""
    go_by_single_parameters(monkeypatch)
    states = {
        "a": a_state(seed=1, steps=3, optimizer="momentum"),
        "b": a_state(seed=2, optimizer="momentum"),
    }
    states["a"].optimizers[0].state.clear()  # all steps were skipped by a loss scaler
    for state in states.values():
        state.optimizers[0].param_groups[0]["weight_decay"] = 0.1
    assert hand_over_while_training(states) == {"a": 1, "b": 1}
    assert_equal(states["a"], states["b"])


def test_room_for_state_that_is_to_come_holds_nothing_by_chance() -> None:
    state = a_state(seed=1)
    optimizer = state.optimizers[0]
    optimizer.state.clear()
    wanted = optimizer_state.shapes(a_state(seed=2, steps=1).optimizers[0])
    kept = [torch.full((40, 3), 7.0) for _ in range(50)]  # what freed memory holds
    del kept
    optimizer_state.make_room(optimizer, wanted)
    assert all(not tensor.any() for tensor in optimizer_state.tensors(optimizer))


def with_teacher(state: TrainingState) -> TrainingState:
    """In no optimizer: a copy that follows the weights, and one that stays as it is."""
    teacher = copy.deepcopy(state.model).requires_grad_(requires_grad=False)
    frozen = copy.deepcopy(teacher)
    state.model = nn.ModuleDict({"teacher": teacher, "student": state.model, "frozen": frozen})
    return state


def test_weights_that_no_optimizer_moves_arrive_as_they_are_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_by_single_parameters(monkeypatch)
    monkeypatch.setattr(Handover, "_goes_on", lambda _: False)  # a portion a step
    states = {"a": with_teacher(a_state(seed=1, steps=3)), "b": with_teacher(a_state(seed=2))}

    def follow(state: TrainingState) -> None:
        model: Any = state.model
        for mine, others in zip(
            model["teacher"].parameters(), model["student"].parameters(), strict=True
        ):
            mine.data.mul_(0.9).add_(others.data, alpha=0.1)

    assert (hand_over_while_training(states, after_step=follow)["a"] or 0) > 1
    assert_equal(states["a"], states["b"])


def test_models_that_differ_are_found_out_before_gloo_would_end_the_process() -> None:
    states = {"a": a_state(seed=1), "b": with_teacher(a_state(seed=2)), "c": a_state(seed=3)}

    def fail(group: Group) -> type[Exception]:
        with pytest.raises((GroupLostError, OtherModelError)) as failure:
            synchronise(group, states[group.worker], lambda: None)
        return failure.type

    found = gather(a_plan("abc", is_recovery=True), fail)
    assert found == {"a": GroupLostError, "b": OtherModelError, "c": GroupLostError}
    del states["b"]
    synchronise_all(states)
    assert_equal(states["a"], states["c"])


def test_only_the_source_looks_whether_they_change_and_first_beside_the_training(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[str] = []

    def looked_at(tensor: torch.Tensor) -> int:
        looks.append(threading.current_thread().name)
        return digest(tensor)

    monkeypatch.setattr("concertina_worker.state.handover.digest", looked_at)
    states = {"a": with_teacher(a_state(seed=1, steps=3)), "b": with_teacher(a_state(seed=2))}
    hand_over_while_training(states)
    loose = len(states["a"].parameters_of_no_optimizer())
    assert [name == "concertina_transfer" for name in looks] == [True] * loose + [False] * loose
