"""How do the gradients of a step become the sum over all workers?

`capture` takes them into buckets, weighted so that the sum is the gradient of the global mean
loss; `exchange` adds up the buckets, each as soon as the last backward pass has filled it; behind
the last travels the `piggyback`. Afterwards `.grad` is the true gradient, so that clipping and
loss scalers see it. A parameter that no worker had a gradient for keeps none, so that the
optimizer leaves it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import torch

from concertina_worker.batch.noise_scale import SquaredNorms
from concertina_worker.membership.agreement import SwitchOffer
from concertina_worker.samples.comparison import StartSum
from concertina_worker.training.gradients.blocks import held_back, several_passes
from concertina_worker.training.gradients.capture import Capture, Captured, Trained
from concertina_worker.training.gradients.exchange import Exchange
from concertina_worker.training.gradients.piggyback import Piggyback, tally_of


@dataclass(slots=True, kw_only=True)
class _Summing:
    """The sum of one step."""

    exchange: Exchange
    captured: Captured
    offer: Callable[[], SwitchOffer]
    is_alone: bool
    measures_norms: bool
    sums: Piggyback = field(default_factory=Piggyback)
    squared_norms: SquaredNorms | None = None


class Gradients:
    """The gradients of a model."""

    def __init__(
        self,
        parameters: Sequence[torch.nn.Parameter],
        on_complete: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_complete`: called when `.grad` is complete, before the script can change it."""
        self.capture = Capture(parameters, self.finish)
        self._on_complete = on_complete
        self._step: _Summing | None = None

    def touch(self) -> None:
        """Get memory ready for a first step that is as fast as the others."""
        self.capture.layout.touch()

    @property
    def trainable(self) -> Trained:
        return self.capture.trainable

    def train(self, trained: Trained) -> None:
        self.capture.train(trained)

    @property
    def is_open(self) -> bool:
        """It is in the middle of several backward passes of one micro-batch."""
        return self.capture.is_open

    def several_passes(self) -> AbstractContextManager[None]:
        return several_passes(self.capture)

    def held_back(self) -> AbstractContextManager[None]:
        return held_back(self.capture)

    def rehearse(self) -> None:
        """What follows goes nowhere."""
        self.end_steps()

    # -- one step, in order --------------------------------------------------------------------

    def begin_step(
        self,
        start_sum: StartSum,
        offer: Callable[[], SwitchOffer],
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
        exchange = Exchange(self.capture.layout.buckets, start_sum)
        captured = self.capture.begin_step(
            exchange.note_complete,
            may_keep=is_alone and not measures_norms,
            measures_parts=measures_norms,
        )
        self._step = _Summing(
            exchange=exchange,
            captured=captured,
            offer=offer,
            is_alone=is_alone,
            measures_norms=measures_norms,
        )

    def begin_micro_batch(self, *, weight: float, is_last: bool) -> None:
        """`weight`: its part of the global batch; 0: its gradient goes nowhere."""
        self.capture.begin_micro_batch(weight=weight, is_last=is_last)

    def finish(self) -> None:
        """Exchange what is left and wait; afterwards every `.grad` is the global gradient.

        Never raises for a lost worker: see `has_failed`.
        """
        step = self._running
        if step.captured.is_complete:
            return
        step.captured.is_complete = True
        if step.captured.keeps:
            self.capture.layout.note_kept()
            step.sums = self._own_piggyback(step)
        else:
            self._exchange(step)
        if not self.has_failed:
            self._on_complete()

    def end_step(self) -> None:
        """The script is through with `.grad`."""
        self.capture.end_step()

    def end_steps(self) -> None:
        """Outside of steps `.grad` belongs to the script."""
        self._step = None
        self.capture.end_steps()

    # -- what came of it -----------------------------------------------------------------------

    @property
    def has_failed(self) -> bool:
        return self._running.exchange.has_failed

    @property
    def waited_seconds(self) -> float:
        """The time this worker waited for the exchange after its own backward pass."""
        return self._running.exchange.waited_seconds

    @property
    def sums(self) -> Piggyback:
        """What travelled behind the gradients, summed; meaningful after `finish`."""
        return self._running.sums

    @property
    def is_alone(self) -> bool:
        return self._running.is_alone

    @property
    def squared_norms(self) -> SquaredNorms | None:
        """The squared norms of this step, if measured; before the script changes `.grad`."""
        return self._running.squared_norms

    @property
    def trained_next(self) -> Trained:
        """The parameters that are trained next: those that all workers have unfrozen.

        So a parameter's training begins with the step after the one in which it was unfrozen.
        """
        trained = self.capture.trained
        if self.capture.layout.is_complete:
            return trained
        workers, counts = self.sums.workers, self.sums.counts
        return tuple(
            is_trained or count == workers
            for is_trained, count in zip(trained, counts, strict=True)
        )

    def drop_references(self) -> None:
        """Forget the group: its sockets close when nobody refers to it."""
        if self._step is not None:
            self._step.exchange.drop_references()

    # -- parts of a step -----------------------------------------------------------------------

    @property
    def _running(self) -> _Summing:
        if self._step is None:
            raise RuntimeError("no step is under way")
        return self._step

    def _exchange(self, step: _Summing) -> None:
        step.sums = self._own_piggyback(step)
        layout = self.capture.layout
        layout.write_piggyback(step.sums.to_numbers())
        step.exchange.finish()
        if not self.has_failed:
            step.sums = Piggyback.from_numbers(layout.read_piggyback())
            step.squared_norms = self._squared_norms(step) if step.measures_norms else None
        self.capture.show(step.sums.counts)

    def _squared_norms(self, step: _Summing) -> SquaredNorms:
        return SquaredNorms(
            of_parts=step.sums.squares_of_parts,
            parts=step.sums.parts,
            of_sum=self.capture.layout.squared_norm,
        )

    def _own_piggyback(self, step: _Summing) -> Piggyback:
        captured = step.captured
        squares = captured.squares_of_parts
        return Piggyback(
            tally=tally_of(step.offer()),
            squares_of_parts=float(torch.stack(squares).sum()) if squares else 0.0,
            parts=captured.parts if captured.measures_parts else 0,
            counts=self.capture.counts,
        )
