"""What stands where a script has `DistributedDataParallel(model)`?

A module with the surface of PyTorch's wrapper, which exchanges nothing itself: the gradients of
the wrapped model are summed as those of any registered model are. Differences that show: the
weight of a worker's gradient is its part of the batch, so uneven batches are exact; buffers are
not broadcast in every forward pass, but go with the state to workers that join.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import nn

HoldBack = Callable[[], AbstractContextManager[Any]]


class DistributedModel(nn.Module):
    """A model wrapped as `DistributedDataParallel` wraps it.

    As there, the model itself is `.module`, names in `state_dict()` begin with `module.`, and
    attributes of the model are reached through `.module` only.
    """

    def __init__(self, module: nn.Module, hold_back: HoldBack = nullcontext) -> None:
        """`hold_back`: around backward passes that are not the last of a micro-batch."""
        super().__init__()
        self.module = module
        self._hold_back = hold_back

    def forward(self, *inputs: Any, **keywords: Any) -> Any:
        return self.module(*inputs, **keywords)

    @property
    def device(self) -> torch.device:
        """The device of the first parameter."""
        return next(self.parameters()).device

    def no_sync(self) -> AbstractContextManager[Any]:
        """Gradients of backward passes inside add up, and are exchanged with the next outside.

        For several backward passes of one micro-batch. Accumulating micro-batches is the
        platform's: each one that `job.batches` yields has its part of the step already.
        """
        return self._hold_back()

    def join(self, **_: Any) -> AbstractContextManager[Any]:
        """Does nothing: no worker runs out of samples before the others."""
        return nullcontext()

    def register_comm_hook(self, state: object, hook: Callable[..., Any]) -> None:  # noqa: ARG002
        raise CommunicationHookError

    def __getstate__(self) -> dict[str, Any]:
        """A copy, such as an average of weights, is not trained."""
        return {**self.__dict__, "_hold_back": nullcontext}


class CommunicationHookError(Exception):
    """Communication hooks cannot be registered: the platform exchanges the gradients itself."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)
