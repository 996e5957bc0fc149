"""States of trainings that have made some real steps, and whether two are the same."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from concertina_worker.collective.group import Group
from concertina_worker.samples.cursor import Cursor
from concertina_worker.state.handover import Handover
from concertina_worker.state.recovery import synchronise
from concertina_worker.state.training_state import TrainingState
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

    def begin(state: TrainingState) -> None:
        if checkpoint is None:
            state.begin_afresh()
        else:
            state.load_checkpoint(checkpoint)

    def meet(group: Group) -> None:
        state = states[group.worker]
        synchronise(group, state, lambda: begin(state))

    gather(plan, meet)


def begin_handover(group: Group, state: TrainingState) -> Handover:
    handover = Handover(group, state)
    if group.is_source:
        handover.send()
    else:
        handover.receive()
    return handover
