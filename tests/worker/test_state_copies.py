"""After a copy two workers cannot be told apart: laggards, fresh starts and joiners."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from concertina_worker.collective.group import Group, GroupLostError
from concertina_worker.data.cursor import Cursor
from concertina_worker.state import optimizer_state, portions
from concertina_worker.state.description import OtherModelError
from concertina_worker.state.digest import digest
from concertina_worker.state.handover import Handover
from concertina_worker.state.recovery import synchronise
from concertina_worker.state.training_state import CheckpointMismatchError, TrainingState
from tests.worker.gathering import a_plan, gather

OPTIMIZERS = {
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, amsgrad=True),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
    "plain": lambda p: torch.optim.SGD(p, lr=0.01),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
}


class Coupled(torch.optim.SGD):
    """Divides all gradients by their common length, as some optimizers do with a trust ratio."""

    def step(self, closure: None = None) -> None:
        gradients = [p.grad for group in self.param_groups for p in group["params"]]
        length = torch.cat([g.flatten() for g in gradients]).norm()
        for gradient in gradients:
            gradient.div_(length)
        super().step(closure)


IN_PORTIONS = {
    **OPTIMIZERS,
    "foreach": lambda p: torch.optim.Adam(p, lr=0.01, foreach=True),
    "fused": lambda p: torch.optim.AdamW(p, lr=0.01, fused=True),
    "nadam": lambda p: torch.optim.NAdam(p, lr=0.01),
    "radam": lambda p: torch.optim.RAdam(p, lr=0.01),
    "adamax": lambda p: torch.optim.Adamax(p, lr=0.01),
    "adadelta": lambda p: torch.optim.Adadelta(p, lr=0.01),
    "rprop": lambda p: torch.optim.Rprop(p, lr=0.01),
}
ALL = {**IN_PORTIONS, "coupled": lambda p: Coupled(p, lr=0.01, momentum=0.9)}


def a_state(*, seed: int, steps: int = 0, optimizer: str = "adam") -> TrainingState:
    """A training that has made some real steps; 0: has just been registered."""
    generator = torch.Generator().manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 40), nn.BatchNorm1d(40), nn.Linear(40, 2))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.rand(parameter.shape, generator=generator))
    chosen = ALL[optimizer](model.parameters())
    scheduler = torch.optim.lr_scheduler.ExponentialLR(chosen, 0.9)
    state = TrainingState(model, [chosen], {"scheduler": scheduler})
    state.allocate()
    if steps:
        state.begin_afresh()
        _train(state, steps, generator)
    return state


def _train(state: TrainingState, steps: int, generator: torch.Generator) -> None:
    scheduler: Any = state.extras["scheduler"]
    for _ in range(steps):
        state.optimizers[0].zero_grad()
        state.model(torch.rand(5, 3, generator=generator)).square().mean().backward()
        state.optimizers[0].step()
        scheduler.step()
        state.step += 1
        state.samples += 5
        state.cursor = Cursor(position=state.samples)


def assert_equal(one: TrainingState, other: TrainingState) -> None:
    a, b = one.to_checkpoint(), other.to_checkpoint()
    for key in ("cursor", "step", "samples", "ramp", "extras"):
        assert a[key] == b[key]
    for name, tensor in a["model"].items():
        assert torch.equal(tensor, b["model"][name]), name
    assert a["optimizers"][0]["param_groups"] == b["optimizers"][0]["param_groups"]
    assert a["optimizers"][0]["state"].keys() == b["optimizers"][0]["state"].keys()
    for index, values in a["optimizers"][0]["state"].items():
        for name, value in values.items():
            assert torch.equal(
                torch.as_tensor(value), torch.as_tensor(b["optimizers"][0]["state"][index][name])
            )
    assert one.is_complete
    assert other.is_complete


def synchronise_all(
    states: dict[str, TrainingState], checkpoint: dict[str, Any] | None = None
) -> None:
    plan = a_plan("".join(states), is_recovery=True)
    gather(plan, lambda group: synchronise(group, states[group.worker], lambda: checkpoint))


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


def begin_handover(group: Group, state: TrainingState) -> Handover:
    handover = Handover(group, state)
    if group.is_source:
        handover.send()
    else:
        handover.receive()
    return handover


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


@pytest.mark.parametrize("optimizer", IN_PORTIONS)
def test_a_joiner_makes_the_steps_that_pass_while_its_state_arrives(
    optimizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portions, "PORTION_BYTES", 1)  # each of six parameters by itself
    states = {
        "a": a_state(seed=1, steps=3, optimizer=optimizer),
        "b": a_state(seed=2, optimizer=optimizer),
    }
    taken = hand_over_while_training(states)
    assert taken["a"] == taken["b"]
    assert taken["a"] in {2, 3, 4, 5, 6}
    assert states["a"].step == 3 + taken["a"]
    assert_equal(states["a"], states["b"])


@pytest.mark.parametrize("reason", ["an optimizer that mixes parameters", "an unknown extra"])
def test_state_that_would_be_spoilt_arrives_before_the_first_step(
    reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portions, "PORTION_BYTES", 1)
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
    monkeypatch.setattr(portions, "PORTION_BYTES", 1)
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
    monkeypatch.setattr(portions, "PORTION_BYTES", 1)
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


@pytest.mark.parametrize("optimizer", ALL)
def test_allocating_optimizer_state_changes_no_parameter(optimizer: str) -> None:
    model = nn.Linear(3, 2)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    chosen = ALL[optimizer](model.parameters())
    optimizer_state.allocate(chosen)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert chosen.param_groups[0]["lr"] == 0.01
