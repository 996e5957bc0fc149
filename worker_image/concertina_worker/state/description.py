"""Do two workers train the same? Their models are compared by name before anything is exchanged.

Tensors travel without their shapes. Gloo ends the process where these differ from one worker to
another, and nothing can catch that; where only the order differs, values end up in wrong places.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import torch
from torch.optim.swa_utils import AveragedModel

from concertina_worker.state import optimizer_state

Description = dict[str, str]
"""What must be the same on all workers, by name, in the order in which it travels."""


def describe(
    model: torch.nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    averages: dict[str, AveragedModel],
) -> Description:
    found = _tensors_of(model)
    for number, optimizer in enumerate(optimizers):
        count = len(optimizer_state.parameters(optimizer))
        found[f"optimizer {number}"] = f"{type(optimizer).__name__} of {count} parameters"
    for name, average in averages.items():
        found |= {f"{name}: {one}": what for one, what in _tensors_of(average).items()}
    return found


def fingerprint(description: Description) -> int:
    """The same number for the same description; another, as good as always, for another."""
    text = repr([*description.items()])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7])  # fits 64 bits with a sign


def check_same(own: Description, others: Description) -> None:
    """Raises OtherModelError."""
    if [*own.items()] == [*others.items()]:
        return
    for name in (*others, *own):
        here, there = (one.get(name, "missing") for one in (own, others))
        if here != there:
            raise OtherModelError(f"{name} is {here} here, {there} there")
    raise OtherModelError("its parts come in another order")


def _tensors_of(model: torch.nn.Module) -> Description:
    return {
        **_shapes("parameter", model.named_parameters()),
        **_shapes("buffer", model.named_buffers()),
    }


def _shapes(kind: str, tensors: Iterable[tuple[str, torch.Tensor]]) -> Description:
    return {f"{kind} {name}": f"{tuple(t.shape)} {t.dtype}" for name, t in tensors}


class OtherModelError(Exception):
    """This worker has made another model or optimizer than the workers it is to train with."""

    def __init__(self, difference: str) -> None:
        super().__init__(
            f"This worker's model is not that of the others: {difference}. Every worker must make"
            f" the same model and optimizers, in each attempt, whatever its rank."
        )
