"""Can this model be trained in parts, and by other workers later? What cannot be is refused.

Asked at `register`, with a mesh of this worker alone and parameters without values: so the script's
function is tried before anybody waits for this worker, and `fully_shard` refuses what it does not
know itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import torch
from torch import nn, optim
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor

from concertina_worker.collective.group import alone
from concertina_worker.sharding.laying_out import ShardableModel, ShardFunction
from concertina_worker.sharding.parts import Initialise, ShardedParts

BY_ROWS: Final = (  # what these remember of a row follows from that row's gradients alone
    optim.SGD,
    optim.Adam,
    optim.AdamW,
    optim.Adamax,
    optim.NAdam,
    optim.RAdam,
    optim.Adadelta,
    optim.RMSprop,
    optim.Rprop,
)

NEEDED: Final = (  # of what `fully_shard` makes of a module; the last of them came with 2.13
    "set_custom_all_gather",
    "set_custom_reduce_scatter",
    "set_gradient_divide_factor",
    "set_all_reduce_hook",
    "set_force_sum_reduction_for_comms",
    "set_reduce_scatter_unused_params",
)


def take(
    model: object,
    optimizers: Sequence[optim.Optimizer],
    shard: ShardFunction,
    init: Initialise | None,
    device: torch.device,
) -> ShardedParts:
    """Take over a model and its optimizers.

    Raises:
        NotShardableError: they cannot be trained in parts.
    """
    lacking = [name for name in NEEDED if not hasattr(FSDPModule, name)]
    if lacking:
        raise NotShardableError(
            f"PyTorch {torch.__version__} has no {lacking[0]} for sharded modules. Use 2.13 or"
            " later."
        )
    if not isinstance(model, nn.Module):
        raise NotShardableError("`shard` is for one model, not for several.")
    _check_model(model, init)
    _check_optimizers(model, optimizers)
    _make_buffers(model, device)
    parts = ShardedParts(ShardableModel(model, shard), optimizers, device, init)
    _try(parts)
    return parts


def check_extras(extras: Mapping[str, object]) -> None:
    """Raises NotShardableError for what looks at all of the weights or gradients."""
    for name, extra in extras.items():
        if isinstance(extra, (optim.swa_utils.AveragedModel, torch.amp.grad_scaler.GradScaler)):
            raise NotShardableError(
                f"{type(extra).__name__} (job.state {name!r}) wants all of a model, of which each"
                " worker holds a part. Leave it out; bfloat16 needs no loss scaling."
            )


def _check_model(model: nn.Module, init: Initialise | None) -> None:
    compiled = getattr(model, "_compiled_call_impl", None) is not None
    if compiled or type(model).__name__ == "OptimizedModule":
        raise NotShardableError(
            "The model is compiled already. Let `shard` compile its parts, each behind the"
            " fully_shard of that part."
        )
    for name, parameter in model.named_parameters():
        if isinstance(parameter, DTensor):
            raise NotShardableError(
                f"{name} is a DTensor already. Register the model before it is sharded; `shard` is"
                " called for each number of workers, with a mesh for them."
            )
        if not parameter.dim():
            raise NotShardableError(f"{name} is a single number, which has no rows. Give it one.")
        if parameter.is_meta and init is None:
            raise NotShardableError(
                f"{name} has no values: it is on the device meta. Give `init` a function that"
                " initialises the model, or make it on the CPU."
            )
        if not parameter.is_meta and init is not None:
            raise NotShardableError(
                f"{name} has values, which `init` would write over. Make the model under"
                ' `torch.device("meta")`, or leave `init` out.'
            )


def _check_optimizers(model: nn.Module, optimizers: Sequence[optim.Optimizer]) -> None:
    own = {id(parameter) for parameter in model.parameters()}
    for optimizer in optimizers:
        if type(optimizer) not in BY_ROWS:
            raise NotShardableError(
                f"What {type(optimizer).__name__} remembers of a row may not follow from that row"
                f" alone. Take one of {', '.join(sorted(one.__name__ for one in BY_ROWS))}."
            )
        if optimizer.state:
            raise NotShardableError(
                f"{type(optimizer).__name__} has state already, of the whole model. Leave loading"
                " to the platform's checkpoints."
            )
        given = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        if any(id(parameter) not in own for parameter in given):
            raise NotShardableError("An optimizer has parameters that the model does not have.")


def _make_buffers(model: nn.Module, device: torch.device) -> None:
    """Give memory to those that were made without, for `init` to fill."""
    for module in model.modules():
        for name, buffer in module.named_buffers(recurse=False):
            if buffer.is_meta:
                setattr(module, name, torch.zeros_like(buffer, device=device))


def _try(parts: ShardedParts) -> None:
    mesh = parts.world.begin(alone("trial"))
    try:
        parts.model.lay_out(mesh)
        misfit = next(parts.model.misfits(mesh), None)
    except (AssertionError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        raise NotShardableError(f"`shard` cannot lay the model out: {error}") from error
    finally:
        parts.model.take_apart()
        parts.world.end()
    if misfit is not None:
        name, what = misfit
        raise NotShardableError(
            f"{name} {what}. `shard` has to call fully_shard(…, mesh=mesh) with the mesh that it is"
            " given, for all of the model; tensor parallelism, replicas of parts, other placements"
            " and ignored parameters cannot follow the number of workers."
        )


class NotShardableError(Exception):
    """This cannot be trained in parts whose number changes."""
