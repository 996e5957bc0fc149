"""In which portions does state travel, and may training make a step between two of them?

An optimizer that treats each parameter by itself takes the same step with a parameter, its state
and its gradient wherever these three are. Everybody has the gradients. So what a joiner has
received stays right through the steps that follow, and what it has not is overwritten later.
Whatever else a step may change (an average of weights, or something of the script's own) would
be spoilt by the parameters that are still missing: then all must travel before the next step.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import optim
from torch.amp.grad_scaler import GradScaler
from torch.optim.lr_scheduler import LRScheduler

from concertina_worker.state import optimizer_state
from concertina_worker.state.training_state import TrainingState

PORTION_BYTES: Final = 4 * 2**20  # guessed: 2 ms at 2 GB/s, for which a step may have to wait
STEPPING_ALONE: Final = (  # optimizers whose step mixes no two parameters
    optim.SGD,
    optim.Adam,
    optim.AdamW,
    optim.Adamax,
    optim.NAdam,
    optim.RAdam,
    optim.Adagrad,
    optim.Adadelta,
    optim.RMSprop,
    optim.Rprop,
)
UNTOUCHED_BY_WEIGHTS: Final = (LRScheduler, GradScaler)


def may_step_between(state: TrainingState) -> bool:
    """True if training may go on when only some portions have arrived; False when unsure."""
    return all(
        type(optimizer) in STEPPING_ALONE and _has_its_state(optimizer)
        for optimizer in state.optimizers
    ) and all(isinstance(extra, UNTOUCHED_BY_WEIGHTS) for extra in state.extras.values())


def _has_its_state(optimizer: optim.Optimizer) -> bool:
    """True if it has its state; else the next step makes it, of weights that may be missing."""
    return all(
        bool(optimizer_state.tensors_of(optimizer, parameter))
        for group in optimizer.param_groups
        if group.get("momentum", 1.0) or type(optimizer) is not optim.SGD
        for parameter in group["params"]
        if parameter.requires_grad
    )


def portions(state: TrainingState) -> list[list[torch.Tensor]]:
    """All that travels: each parameter with its state, so many together as fill a portion."""
    found: list[list[torch.Tensor]] = []
    portion: list[torch.Tensor] = []
    for bundle in _bundles(state):
        portion += bundle
        if sum(tensor.nbytes for tensor in portion) >= PORTION_BYTES:
            found.append(portion)
            portion = []
    return [*found, portion] if portion else found


def _bundles(state: TrainingState) -> list[list[torch.Tensor]]:
    """Bundle the tensors by parameter; last comes whatever belongs to none."""
    bundles = [
        [
            parameter,
            *(t for o in state.optimizers for t in optimizer_state.tensors_of(o, parameter)),
        ]
        for parameter in state.model.parameters()
    ]
    bundled = {id(tensor) for bundle in bundles for tensor in bundle}
    return [*bundles, [tensor for tensor in state.tensors() if id(tensor) not in bundled]]
