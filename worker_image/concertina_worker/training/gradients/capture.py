"""How do gradients get from backward passes into their slots? A hook on every parameter takes them.

Each fresh gradient is weighted by its micro-batch's part of the global batch, so that after the
last micro-batch the slots of all workers add up to the gradient of the global mean loss, however
uneven the split. Three ways to get there:

- one backward pass per micro-batch, as in most scripts: slots are reported as soon as the last
  pass has filled them, and the step is finished when `backward()` returns;
- several passes, between `open` and `close`: `.grad` is autograd's own in between, and the step
  is finished in `close` of the last micro-batch;
- several passes, the last one as above and the others with `holds_back`.

Assumption: the script's loss is the mean over the micro-batch it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from concertina_worker.training.gradients.layout import Layout, Slot, squared_norm
from concertina_worker.training.gradients.piggyback import Piggyback

Trained = tuple[bool, ...]
"""By parameter of the model: whether its gradient is exchanged."""


@dataclass(slots=True, kw_only=True)
class Captured:
    """What is taken in one step, and how."""

    note_complete: Callable[[int], None]  # one more slot of this bucket has its last gradient
    may_keep: bool
    measures_parts: bool
    micro_batch: int = 0  # counted from 1
    weight: float = 0.0
    is_last: bool = False
    keeps: bool = False  # gradients stay where autograd put them: there is nothing to add
    is_open: bool = False
    parts: int = 0  # micro-batches, as far as they are measured
    squares_of_parts: list[torch.Tensor] = field(default_factory=list)
    is_finishing: bool = False  # at the end of the backward pass
    is_complete: bool = False  # nothing more may come
    is_over: bool = False


class Capture:
    """Takes the gradients of a model's parameters where backward passes leave them."""

    def __init__(
        self, parameters: Sequence[torch.nn.Parameter], finish: Callable[[], None]
    ) -> None:
        """`finish`: called where the last backward pass of a step ends."""
        self.layout = Layout((), (), piggyback=1)
        self.trained: Trained = ()
        self.holds_back = False  # backward passes add up, but none of them is the last
        self._parameters = parameters
        self._finish = finish
        self._step: Captured | None = None
        self.train(self.trainable)
        for number, parameter in enumerate(parameters):
            _hook(parameter, partial(self._on_gradient, number))

    @property
    def trainable(self) -> Trained:
        """All parameters that are not frozen now: what the first step of a training exchanges."""
        return tuple([parameter.requires_grad for parameter in self._parameters])

    def train(self, trained: Trained) -> None:
        """Take the gradients of these parameters, from the next step on."""
        if trained != self.trained:
            self.trained = trained
            length = Piggyback.length(len(trained))
            self.layout = Layout(self._parameters, trained, piggyback=length)

    # -- one step, in order --------------------------------------------------------------------

    def begin_step(
        self, note_complete: Callable[[int], None], *, may_keep: bool, measures_parts: bool
    ) -> Captured:
        """`may_keep`: what is whole already need not be moved: nobody else has a part of it."""
        if self._step is None or not self._step.is_over:
            self.hide()
        self.layout.begin_step()
        self._step = Captured(
            note_complete=note_complete, may_keep=may_keep, measures_parts=measures_parts
        )
        return self._step

    def begin_micro_batch(self, *, weight: float, is_last: bool) -> None:
        """`weight`: its part of the global batch; 0: its gradient goes nowhere."""
        step = self._running
        step.micro_batch += 1
        step.weight, step.is_last = weight, is_last
        step.keeps = step.may_keep and weight == 1
        step.parts += weight > 0

    def open(self) -> None:
        """Leave gradients to autograd until `close`."""
        self._running.is_open = True

    def close(self, *, is_valid: bool = True) -> None:
        """Take what has come together since `open`; invalid: throw it away.

        Raises:
            SecondBackwardError: the gradients of this step are exchanged already.
            SparseGradientError: one of them is sparse.
        """
        step = self._running
        step.is_open = False
        if not is_valid:
            self.hide()
            return
        if step.is_complete:
            raise SecondBackwardError
        for slot, parameter in zip(self.layout.slots, self._parameters, strict=True):
            if slot is None:
                parameter.grad = None  # was unfrozen in this step, and is trained from the next on
            elif not step.keeps:
                self._take(slot, step)
        if step.is_last:
            self._finish()

    def end_step(self) -> None:
        """The script is through with `.grad`: free its memory before more samples are loaded."""
        self._running.is_over = True
        self.hide()

    def end_steps(self) -> None:
        """Outside of steps `.grad` belongs to the script."""
        self._step = None
        self.hide()

    @property
    def is_in_step(self) -> bool:
        return self._step is not None

    @property
    def is_open(self) -> bool:
        return self._step is not None and self._step.is_open

    # -- what the script sees ------------------------------------------------------------------

    @property
    def counts(self) -> tuple[int, ...]:
        """A number for each parameter: it has a gradient, or wants one if it is left out."""
        pairs = zip(self.layout.slots, self._parameters, strict=True)
        return tuple([slot.is_filled if slot else p.requires_grad for slot, p in pairs])

    def show(self, counts: Sequence[int]) -> None:
        """Show the slots as `.grad`, for parameters that any worker had a gradient for."""
        for slot, count in zip(self.layout.slots, counts, strict=True):
            if slot is not None:
                slot.parameter.grad = slot.view if count else None

    def hide(self) -> None:
        """The hooks want to see fresh gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    # -- inside the backward pass --------------------------------------------------------------

    def _on_gradient(self, number: int, parameter: torch.nn.Parameter) -> None:
        """Runs for every parameter in every backward pass: each line counts."""
        step = self._step
        if step is None or step.is_open:
            return
        slot = self.layout.slots[number]
        if slot is None:
            parameter.grad = None  # was unfrozen in this step, and is trained from the next on
            return
        if step.is_complete or slot.completed_in == step.micro_batch:
            raise SecondBackwardError
        if not step.keeps:
            self._take(slot, step)
        if self.holds_back:
            step.measures_parts = False  # norms of its passes tell nothing of a micro-batch's
            return
        slot.completed_in = step.micro_batch
        if step.is_last:
            if not step.is_finishing:
                self._finish_with_the_backward_pass(step)
            if not step.keeps:
                step.note_complete(slot.bucket)

    def _take(self, slot: Slot, step: Captured) -> None:
        """Empty `.grad` into the slot."""
        gradient = slot.gradient
        if gradient is None:
            return
        slot.parameter.grad = None
        if step.weight == 0:
            return
        if step.measures_parts:
            step.squares_of_parts.append(squared_norm(gradient) * step.weight)
        slot.add(gradient, step.weight)

    def _finish_with_the_backward_pass(self, step: Captured) -> None:
        step.is_finishing = True
        engine: Any = torch.autograd.Variable._execution_engine  # noqa: SLF001 - as DDP does
        engine.queue_callback(self._finish)

    @property
    def _running(self) -> Captured:
        if self._step is None:
            raise RuntimeError("no step is under way")
        return self._step


def _hook(parameter: torch.nn.Parameter, on_gradient: Callable[[torch.nn.Parameter], None]) -> None:
    """Hook this parameter, even one that is frozen now: it may be unfrozen later."""
    if not (parameter.is_floating_point() or parameter.is_complex()):
        return
    is_trained = parameter.requires_grad
    parameter.requires_grad_(True)
    parameter.register_post_accumulate_grad_hook(on_gradient)
    parameter.requires_grad_(is_trained)


class SecondBackwardError(Exception):
    """backward() ran again after the gradients of this step were exchanged.

    Add the losses of a micro-batch up and call backward() once, or put all backward passes of a
    micro-batch into one `with job.step():`.
    """

    def __init__(self) -> None:
        super().__init__(self.__doc__)
