"""Is the script's loss a mean over the samples it was given? Its first backward pass tells.

Until that pass is over, `torch.autograd.backward` is replaced by a function that looks at what it
is given and then does the same: there is no other place from which the whole loss can be seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, Final

import torch
from torch.utils.hooks import RemovableHandle

from concertina_worker.manual import Section
from concertina_worker.training.script_checks.loss_weights import summed_parts

_LOOKS: Final = 3  # micro-batches without a backward pass after which nobody looks any more
_NOT_THE_SCRIPT: Final = (str(Path(__file__).parents[2]), str(Path(torch.__file__).parent))
_HALF: Final = 0.5  # as in 0.5 * ((prediction - target) ** 2).sum()


class LossWatch:
    """Looks at the loss of one micro-batch, then never again."""

    def __init__(self, warn: Callable[[str, Section], None], scale: Callable[[], float]) -> None:
        """`scale`: by which a loss scaler multiplies the loss."""
        self._warn, self._scale = warn, scale
        self._looks_left = _LOOKS
        self._is_looking = False
        self._usual: Any = None  # what it replaces
        self._handles: list[RemovableHandle] = []
        self._weights: list[torch.Tensor] = []
        self._place = ""
        self._samples = 0

    def begin(self, samples: int) -> None:
        """The script gets so many; of a single one the sum is the mean.

        Other threads may train beside one that is not the main thread: then nobody looks.
        """
        if self._looks_left and samples > 1 and current_thread() is main_thread():
            self._looks_left -= 1
            self._samples, self._is_looking = samples, True
            self._usual, torch.autograd.backward = torch.autograd.backward, self._backward

    def end(self) -> None:
        """The script is through with them."""
        if not self._is_looking:
            return
        self._is_looking = False
        if torch.autograd.backward == self._backward:
            torch.autograd.backward = self._usual
        else:  # somebody has replaced it once more since, and goes on through ours
            self._looks_left = 0
        for handle in self._handles:
            handle.remove()
        if self._place:
            self._looks_left = 0
            self._judge()
        self._handles, self._weights = [], []

    def _backward(self, tensors: Any, *arguments: Any, **named: Any) -> None:
        if self._is_looking:
            self._place = self._place or _place()
            self._look([tensors] if isinstance(tensors, torch.Tensor) else [*tensors])
        self._usual(tensors, *arguments, **named)

    def _look(self, roots: list[torch.Tensor]) -> None:
        for root in roots:
            if root.numel() == 1 and root.grad_fn is not None:
                parts = summed_parts(root.grad_fn)
                self._handles += [part.register_prehook(self._weigh) for part in parts]

    def _weigh(self, gradients: tuple[torch.Tensor | None, ...]) -> None:
        """Weigh each sample in the loss, on the way back of its gradient."""
        for gradient in gradients:
            if gradient is not None:
                weights = gradient.detach().abs()
                self._weights.append(weights.sum() / (weights != 0).sum().clamp(min=1))

    def _judge(self) -> None:
        least = max(_HALF, 1.5 / self._samples) * self._scale()
        if any(float(weight) >= least for weight in self._weights):
            self._warn(
                f"The loss is a sum over the samples of a batch, not their mean ({self._place}):"
                " each worker has a part of the batch, so gradients shrink as workers are added."
                ' Use the mean (reduction="mean"), or divide by the number of samples.',
                Section.LOSS,
            )


def _place() -> str:
    """The place in the script that calls the backward pass."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    while frame and frame.f_back and frame.f_code.co_filename.startswith(_NOT_THE_SCRIPT):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "backward"
