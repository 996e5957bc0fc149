"""Has the script one model and one optimizer, or several? What follows sees no difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

import torch

Object = TypeVar("Object")
Several: TypeAlias = Object | Sequence[Object] | Mapping[str, Object]
"""One, or a list or a dictionary of them, in the same order on all workers."""


def members(objects: Several[Object] | None) -> tuple[Object, ...]:
    """All of them; none of None."""
    if objects is None:
        return ()
    if isinstance(objects, Mapping):
        return tuple(objects.values())
    return tuple(objects) if isinstance(objects, (list, tuple)) else (objects,)  # type: ignore[return-value] # a single one


def as_one_module(models: Several[torch.nn.Module]) -> torch.nn.Module:
    """A module that has the parameters, buffers and state of all."""
    if isinstance(models, torch.nn.Module):
        return models
    if isinstance(models, Mapping):
        return torch.nn.ModuleDict(dict(models))
    return torch.nn.ModuleList(models)
