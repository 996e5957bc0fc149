"""How do the gradients of a step become the sum over all workers?

A hook on every parameter takes each fresh gradient into its slot, weighted by the micro-batch's
part of the global batch, so that after the last micro-batch the slots of all workers add up to
the gradient of the global mean loss, however uneven the split. Three ways to get there:

- one backward pass per micro-batch, as in most scripts: buckets are exchanged as soon as the
  last pass has filled them, and the exchange is complete when `backward()` returns;
- several passes, between `open` and `close`: `.grad` is autograd's own in between, and the
  exchange happens in `close` of the last micro-batch;
- several passes, the last one as above and the others with `holds_back`.

In all three `.grad` is the true gradient afterwards, so that clipping and loss scalers see it.
A parameter that no worker had a gradient for keeps none, so that the optimizer leaves it alone.
Assumption: the script's loss is the mean over the micro-batch it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from concertina_worker.batch.noise_scale import SquaredNorms
from concertina_worker.membership.agreement import Offer
from concertina_worker.training.exchange import Exchange, StartSum
from concertina_worker.training.layout import Layout, Slot, squared_norm
from concertina_worker.training.postscript import Postscript, tally_of

Trained = tuple[bool, ...]
"""By parameter of the model: whether its gradient is exchanged."""


@dataclass(slots=True, kw_only=True)
class _Step:
    """What is going on in the current step."""

    exchange: Exchange
    offer: Callable[[], Offer]
    is_alone: bool
    measures_norms: bool
    measures_parts: bool
    micro_batch: int = 0  # counted from 1
    weight: float = 0.0
    is_last: bool = False
    keeps: bool = False  # gradients stay where autograd put them: there is nothing to add
    is_open: bool = False
    parts: int = 0
    squares_of_parts: list[torch.Tensor] = field(default_factory=list)
    is_finishing: bool = False  # the backward pass will call `finish`
    is_exchanged: bool = False
    is_over: bool = False
    sums: Postscript = field(default_factory=Postscript)
    squared_norms: SquaredNorms | None = None


class Gradients:
    """The gradients of a model."""

    def __init__(
        self,
        parameters: Sequence[torch.nn.Parameter],
        on_complete: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_complete`: called when `.grad` is complete, before the script can change it."""
        self._parameters = parameters
        self._on_complete = on_complete
        self._layout = Layout((), (), postscript=1)
        self._trained: Trained = ()
        self._step: _Step | None = None
        self.holds_back = False  # backward passes add up, but none of them is the last
        self.train(self.trainable)
        for number, parameter in enumerate(parameters):
            _hook(parameter, partial(self._on_gradient, number))

    @property
    def trainable(self) -> Trained:
        """All parameters that are not frozen now: what the first step of a training exchanges."""
        return tuple([parameter.requires_grad for parameter in self._parameters])

    def train(self, trained: Trained) -> None:
        """Exchange the gradients of these parameters, from the next step on."""
        if trained != self._trained:
            self._trained = trained
            length = Postscript.length(len(trained))
            self._layout = Layout(self._parameters, trained, postscript=length)

    def touch(self) -> None:
        """Get memory ready for a first step that is as fast as the others."""
        self._layout.touch()

    # -- one step, in order --------------------------------------------------------------------

    def begin_step(
        self,
        start_sum: StartSum,
        offer: Callable[[], Offer],
        *,
        is_alone: bool = False,
        measures_norms: bool = False,
    ) -> None:
        """`offer` is asked once, as late as possible, for this worker's part of the agreement.

        Args:
            start_sum: starts the sum over the workers.
            offer: see above.
            is_alone: there is nobody to exchange with; saves copies.
            measures_norms: see `squared_norms`; all workers must say the same.
        """
        if self._step is None or not self._step.is_over:
            self._hide()
        self._layout.begin_step()
        self._step = _Step(
            exchange=Exchange(self._layout.buckets, start_sum),
            offer=offer,
            is_alone=is_alone,
            measures_norms=measures_norms,
            measures_parts=measures_norms,
        )

    def begin_micro_batch(self, *, weight: float, is_last: bool) -> None:
        """`weight`: its part of the global batch; 0: its gradient goes nowhere."""
        step = self._running
        step.micro_batch += 1
        step.weight, step.is_last = weight, is_last
        step.keeps = step.is_alone and weight == 1 and not step.measures_norms
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
            self._hide()
            return
        if step.is_exchanged:
            raise SecondBackwardError
        for slot, parameter in zip(self._layout.slots, self._parameters, strict=True):
            if slot is None:
                parameter.grad = None  # was unfrozen in this step: see `trained_next`
            elif not step.keeps:
                self._take(slot, step)
        if step.is_last:
            self.finish()

    def finish(self) -> None:
        """Exchange what is left and wait; afterwards every `.grad` is the global gradient.

        Never raises for a lost worker: see `has_failed`.
        """
        step = self._running
        if step.is_exchanged:
            return
        step.is_exchanged = True
        if step.keeps:
            self._layout.note_kept()
            step.sums = self._own_postscript(step)
        else:
            self._exchange(step)
        if not self.has_failed:
            self._on_complete()

    def end_step(self) -> None:
        """The script is through with `.grad`: free its memory before more samples are loaded."""
        self._running.is_over = True
        self._hide()

    def end_steps(self) -> None:
        """Outside of steps `.grad` belongs to the script."""
        self._step = None
        self._hide()

    @property
    def is_in_step(self) -> bool:
        return self._step is not None

    @property
    def is_open(self) -> bool:
        return self._step is not None and self._step.is_open

    # -- what came of it -----------------------------------------------------------------------

    @property
    def has_failed(self) -> bool:
        return self._running.exchange.has_failed

    @property
    def waited_seconds(self) -> float:
        """How long this worker waited for the exchange after its own backward pass."""
        return self._running.exchange.waited_seconds

    @property
    def sums(self) -> Postscript:
        """What travelled behind the gradients, summed; meaningful after `finish`."""
        return self._running.sums

    @property
    def is_alone(self) -> bool:
        return self._running.is_alone

    @property
    def squared_norms(self) -> SquaredNorms | None:
        """Of this step, if it was asked to measure them; before the script changes `.grad`."""
        return self._running.squared_norms

    @property
    def trained_next(self) -> Trained:
        """With the parameters that all workers have unfrozen: the same answer on all of them.

        So a parameter's training begins with the step after the one in which it was unfrozen.
        """
        if self._layout.is_complete:
            return self._trained
        workers, counts = self.sums.workers, self.sums.counts
        return tuple(
            is_trained or count == workers
            for is_trained, count in zip(self._trained, counts, strict=True)
        )

    def drop_references(self) -> None:
        """Forget the group: its sockets close when nobody refers to it."""
        if self._step is not None:
            self._step.exchange.drop_references()

    # -- inside the backward pass --------------------------------------------------------------

    def _on_gradient(self, number: int, parameter: torch.nn.Parameter) -> None:
        """Runs for every parameter in every backward pass: each line counts."""
        step = self._step
        if step is None or step.is_open:
            return
        slot = self._layout.slots[number]
        if slot is None:
            parameter.grad = None  # was unfrozen in this step: see `trained_next`
            return
        if step.is_exchanged or slot.completed_in == step.micro_batch:
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
                step.exchange.note_complete(slot.bucket)

    def _take(self, slot: Slot, step: _Step) -> None:
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

    def _finish_with_the_backward_pass(self, step: _Step) -> None:
        step.is_finishing = True
        engine: Any = torch.autograd.Variable._execution_engine  # noqa: SLF001 - as DDP does
        engine.queue_callback(self.finish)

    # -- parts of a step -----------------------------------------------------------------------

    @property
    def _running(self) -> _Step:
        if self._step is None:
            raise RuntimeError("no step is under way")
        return self._step

    def _exchange(self, step: _Step) -> None:
        step.sums = self._own_postscript(step)
        self._layout.write_postscript(step.sums.to_numbers())
        step.exchange.finish()
        if not self.has_failed:
            step.sums = Postscript.from_numbers(self._layout.read_postscript())
            step.squared_norms = self._squared_norms(step) if step.measures_norms else None
        self._show()

    def _squared_norms(self, step: _Step) -> SquaredNorms:
        return SquaredNorms(
            of_parts=step.sums.squares_of_parts,
            parts=step.sums.parts,
            of_sum=self._layout.squared_norm,
        )

    def _own_postscript(self, step: _Step) -> Postscript:
        squares = step.squares_of_parts
        pairs = zip(self._layout.slots, self._parameters, strict=True)
        return Postscript(
            tally=tally_of(step.offer()),
            squares_of_parts=float(torch.stack(squares).sum()) if squares else 0.0,
            parts=step.parts if step.measures_parts else 0,
            counts=tuple([slot.is_filled if slot else p.requires_grad for slot, p in pairs]),
        )

    def _show(self) -> None:
        for slot, count in zip(self._layout.slots, self.sums.counts, strict=True):
            if slot is not None:
                slot.parameter.grad = slot.view if count else None

    def _hide(self) -> None:
        """The hooks want to see fresh gradients."""
        for parameter in self._parameters:
            parameter.grad = None


def _hook(parameter: torch.nn.Parameter, on_gradient: Callable[[torch.nn.Parameter], None]) -> None:
    """Also for one that is frozen now: it may be unfrozen later."""
    if not (parameter.is_floating_point() or parameter.is_complex()):
        return
    is_trained = parameter.requires_grad
    parameter.requires_grad_(True)
    parameter.register_post_accumulate_grad_hook(on_gradient)  # type: ignore[no-untyped-call] # torch
    parameter.requires_grad_(is_trained)


class SecondBackwardError(Exception):
    """backward() ran again after the gradients of this step were exchanged.

    Add the losses of a micro-batch up and call backward() once, or put all backward passes of a
    micro-batch into one `with job.step():`.
    """

    def __init__(self) -> None:
        super().__init__(self.__doc__)
