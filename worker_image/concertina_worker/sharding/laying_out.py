"""How is a model laid out for a mesh, and again for another? By the script's own function.

`fully_shard` changes a module for good: its class, its parameters and its hooks. So what each
module was like before is remembered, and put back before the function is called again. Until rows
are given to them parameters are on PyTorch's device `meta`, where they have shapes and no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.distributed._composable_state import _module_state_mapping
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor, Shard

ShardFunction = Callable[[nn.Module, DeviceMesh], object]
"""The script's: calls `fully_shard(…, mesh=mesh)` for the parts of a model, then for all of it."""


class ShardableModel:
    """A model that can be laid out again and again; its modules stay the same objects."""

    def __init__(self, model: nn.Module, shard: ShardFunction) -> None:
        """Take the values of the parameters away from it: see `take_values`."""
        self.model = model
        self._shard = shard
        self._modules = [*model.modules()]
        self._places = _places(model)
        made = dict(model.named_parameters())
        self.names = [*made]
        self._name_of = {id(parameter): name for name, parameter in made.items()}
        self._values = {name: parameter.detach() for name, parameter in made.items()}
        self._whole = {name: _without_values(parameter) for name, parameter in made.items()}
        self._as_made = [_MadeModule(module) for module in self._modules]
        self._put(self._whole)

    def take_values(self) -> dict[str, torch.Tensor]:
        """Return what the script has made, by name; nothing here holds it any longer."""
        values, self._values = self._values, {}
        return values

    def name_of(self, made: nn.Parameter) -> str:
        """Return how the model calls what the script has made."""
        return self._name_of[id(made)]

    def aliases(self, name: str) -> list[str]:
        """Return all names of a parameter: a shared one has several."""
        return [one for _, _, one in self._places[name]]

    def lay_out(self, mesh: DeviceMesh) -> None:
        """Have parts of parameters, still without values."""
        self.take_apart()
        before = [{*module.__dict__} for module in self._modules]
        self._shard(self.model, mesh)
        for made, keys in zip(self._as_made, before, strict=True):
            made.added = made.module.__dict__.keys() - keys

    def take_apart(self) -> None:
        """Be as the script made it, but for values."""
        for made in self._as_made:
            made.restore()
        self._put(self._whole)

    def fill(self, name: str, rows: torch.Tensor) -> nn.Parameter:
        """Give a parameter this worker's rows; returns what it is from now on."""
        old = self.parameter(name)
        assert isinstance(old, DTensor)  # noqa: S101 - it is laid out
        part = DTensor.from_local(
            rows,
            old.device_mesh,
            old.placements,
            run_check=False,
            shape=old.shape,
            stride=old.stride(),
        )
        parameter = nn.Parameter(part, requires_grad=old.requires_grad)
        for module, leaf, _ in self._places[name]:
            setattr(module, leaf, parameter)
        return parameter

    def parameter(self, name: str) -> nn.Parameter:
        module, leaf, _ = self._places[name][0]
        parameter = module._parameters[leaf]  # noqa: SLF001 - a module may have it in another way
        assert parameter is not None  # noqa: S101 - it had one at first
        return parameter

    def parameters(self) -> dict[str, nn.Parameter]:
        """Return all by name, in the layout they are in between two steps."""
        for module in self.sharded_modules():
            module.reshard()
        return {name: self.parameter(name) for name in self.names}

    def whole(self, name: str) -> nn.Parameter:
        """Return what stands for a parameter while no mesh is there."""
        return self._whole[name]

    def sharded_modules(self) -> Iterator[FSDPModule]:
        return (module for module in self._modules if isinstance(module, FSDPModule))

    def misfits(self, mesh: DeviceMesh) -> Iterator[tuple[str, str]]:
        """Yield parameters that are not laid out by rows over this mesh, and what is the matter."""
        for name in self.names:
            held = {id(module._parameters[leaf]) for module, leaf, _ in self._places[name]}  # noqa: SLF001
            one = self.parameter(name)
            if len(held) > 1:
                yield name, "is shared by modules that fully_shard puts into different groups"
            elif not isinstance(one, DTensor):
                yield name, "was left out by fully_shard: nobody would sum its gradient"
            elif one.device_mesh != mesh:
                yield name, "lies on another mesh than the one that was given"
            elif one.placements != (Shard(0),):
                yield name, f"is laid out as {one.placements}, not by rows"

    def _put(self, parameters: dict[str, nn.Parameter]) -> None:
        for name, parameter in parameters.items():
            for module, leaf, _ in self._places[name]:
                module._parameters[leaf] = parameter  # noqa: SLF001 - setattr would ask fully_shard


class _MadeModule:
    """What a module was like before it was sharded."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.added: set[Any] = set()  # attributes, by the latest sharding
        self._class = type(module)
        self._hooks = {
            name: value.copy() for name, value in module.__dict__.items() if _is_of_hooks(name)
        }

    def restore(self) -> None:
        self.module.__class__ = self._class
        for name in self.added:
            self.module.__dict__.pop(name, None)
        for name, hooks in self._hooks.items():
            self.module.__dict__[name] = hooks.copy()
        _module_state_mapping.pop(self.module, None)


def _is_of_hooks(name: object) -> bool:
    return isinstance(name, str) and name.startswith("_") and "_hooks" in name


def _places(model: nn.Module) -> dict[str, list[tuple[nn.Module, str, str]]]:
    """Find where each parameter is, by its first name, and its name there."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    found: dict[str, list[tuple[nn.Module, str, str]]] = {}
    for prefix, module in model.named_modules():
        for leaf, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
            full = f"{prefix}.{leaf}" if prefix else leaf
            found.setdefault(names[id(parameter)], []).append((module, leaf, full))
    return found


def _without_values(parameter: nn.Parameter) -> nn.Parameter:
    empty = torch.empty_like(parameter, device="meta")
    return nn.Parameter(empty, requires_grad=parameter.requires_grad)
