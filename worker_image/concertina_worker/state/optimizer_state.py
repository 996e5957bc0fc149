"""What does an optimizer remember per parameter, and how does another worker make room for it?

Optimizers create their state at the first step. A joiner that receives state has made none, so it
allocates it beforehand (`allocate`, which costs as much as a step) and adjusts it to what the
source describes (`shapes`, `make_room`).
"""

from __future__ import annotations

from typing import Any

import torch

Shapes = list[dict[str, Any]]
"""For each parameter: by name either a description of a tensor or a plain value."""

_TENSOR = "tensor"


def parameters(optimizer: torch.optim.Optimizer) -> list[torch.nn.Parameter]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def hyperparameters(optimizer: torch.optim.Optimizer) -> list[dict[str, Any]]:
    """The settings of each group of parameters, without the parameters."""
    return [
        {name: value for name, value in group.items() if name != "params"}
        for group in optimizer.param_groups
    ]


def set_hyperparameters(optimizer: torch.optim.Optimizer, groups: list[dict[str, Any]]) -> None:
    for group, values in zip(optimizer.param_groups, groups, strict=True):
        group.update(values)


def tensors(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """All tensors of the state, in an order that is the same on every worker."""
    return [
        tensor for parameter in parameters(optimizer) for tensor in tensors_of(optimizer, parameter)
    ]


def tensors_of(
    optimizer: torch.optim.Optimizer, parameter: torch.nn.Parameter
) -> list[torch.Tensor]:
    """The tensors of one parameter."""
    state = sorted(optimizer.state.get(parameter, {}).items())
    return [value for _, value in state if isinstance(value, torch.Tensor)]


def shapes(optimizer: torch.optim.Optimizer) -> Shapes:
    return [
        {
            name: (_TENSOR, tuple(value.shape), value.dtype, value.device == parameter.device)
            if isinstance(value, torch.Tensor)
            else value
            for name, value in optimizer.state.get(parameter, {}).items()
        }
        for parameter in parameters(optimizer)
    ]


def make_room(optimizer: torch.optim.Optimizer, wanted: Shapes) -> None:
    """Give the state this structure; tensors that fit already are kept, others are zero."""
    for parameter, names in zip(parameters(optimizer), wanted, strict=True):
        old = optimizer.state.pop(parameter, {})
        if names:
            optimizer.state[parameter] = {
                name: _room(parameter, old.get(name), description)
                for name, description in names.items()
            }


def allocate(optimizer: torch.optim.Optimizer) -> bool:
    """Make the optimizer create its state, without changing a parameter: a step of length zero.

    Returns whether it did, and not when there is state that the script has loaded. What it makes
    is the state of a step with zero gradients: `optimizer.state.clear()` before training from
    scratch. Optimizers from elsewhere may divide by the length of the gradient: after them
    the parameters are put back.
    """
    before = hyperparameters(optimizer)
    if optimizer.state or any(isinstance(group["lr"], torch.Tensor) for group in before):
        return False
    for group in optimizer.param_groups:
        group.update(lr=0.0, **({"weight_decay": 0.0} if "weight_decay" in group else {}))
    for parameter in parameters(optimizer):
        parameter.grad = torch.zeros_like(parameter) if parameter.requires_grad else None
    is_known = type(optimizer).__module__.startswith("torch.optim.")
    kept = [] if is_known else [parameter.detach().clone() for parameter in parameters(optimizer)]
    type(optimizer).step(optimizer)
    for parameter, values in zip(parameters(optimizer), kept, strict=not is_known):
        parameter.data.copy_(values)
    for parameter in parameters(optimizer):
        parameter.grad = None
    set_hyperparameters(optimizer, before)
    return True


def _room(parameter: torch.nn.Parameter, old: Any, description: Any) -> Any:
    if not (isinstance(description, tuple) and description and description[0] == _TENSOR):
        return description
    _, shape, dtype, is_beside_parameter = description
    if isinstance(old, torch.Tensor) and (tuple(old.shape), old.dtype) == (shape, dtype):
        return old
    device = parameter.device if is_beside_parameter else torch.device("cpu")
    return torch.zeros(shape, dtype=dtype, device=device)
