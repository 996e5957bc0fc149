"""How do gradients become the sum over all workers where each holds a part of the model?

`fully_shard` sums them in each backward pass, weighted by what each worker's samples are of the
batch, and adds up those of several micro-batches. So at the end of a step everybody has its own
rows of the sum, and all that is left to exchange are the small numbers that ride with gradients
elsewhere: the members' offers to switch, and whether a checkpoint is due, which all write then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import torch

from concertina_worker.device.kernels import await_kernels
from concertina_worker.membership.agreement import SwitchOffer
from concertina_worker.samples.comparison import StartSum
from concertina_worker.state.parts import Parts
from concertina_worker.training.gradients.capture import Trained
from concertina_worker.training.gradients.piggyback import Piggyback, tally_of


class GradientsInParts:
    """The gradients of a model of which no worker holds all; see `Gradients`."""

    squared_norms = None  # nobody has all that would have to be compared
    is_alone = False
    is_open = False
    trainable: Trained = ()  # not to change: `fully_shard` knows of it from the beginning

    def __init__(
        self,
        model: torch.nn.Module,
        parts: Parts,
        is_checkpoint_due: Callable[[], bool],
    ) -> None:
        """`is_checkpoint_due`: asked of all; the main worker's answer counts."""
        self.has_failed = False
        self.waited_seconds = 0.0
        self.sums = Piggyback()
        self.is_checkpoint_agreed = False  # behind the step that was made last
        self._model = model
        self.parts = parts
        self._is_checkpoint_due = is_checkpoint_due
        self._start_sum: StartSum | None = None
        self._offer: Callable[[], SwitchOffer] = SwitchOffer
        self._is_complete = False
        self._is_last = False
        self._is_in_step = False
        self._kept: dict[torch.nn.Parameter, torch.Tensor] = {}  # of micro-batches before
        parts.watch_gradients(self._take)

    def touch(self) -> None:
        """There is no memory of its own."""

    def train(self, trained: Trained) -> None:
        """All that is not frozen is trained."""

    # -- one step, in order --------------------------------------------------------------------

    def begin_step(
        self,
        start_sum: StartSum,
        offer: Callable[[], SwitchOffer],
        *,
        is_alone: bool = False,  # noqa: ARG002 - as `Gradients`
        measures_norms: bool = False,  # noqa: ARG002
    ) -> None:
        self._start_sum, self._offer = start_sum, offer
        self._is_complete = self.has_failed = False
        self.parts.begin_step()
        self._is_in_step = True
        self._clear()

    def begin_micro_batch(self, *, weight: float, is_last: bool) -> None:
        self.parts.weigh(weight)
        self._is_last = is_last

    def finish(self) -> None:
        """Agree on what comes next; never raises for a lost worker: see `has_failed`."""
        if self._is_complete:
            return
        self._is_complete = True
        await_kernels(self.parts.device)
        own = replace(Piggyback(), tally=tally_of(self._offer()))
        is_due = self.parts.place[0] == 0 and self._is_checkpoint_due()
        numbers = torch.tensor([*own.to_numbers(), float(is_due)], dtype=torch.float64)
        began = time.monotonic()
        try:
            if self.parts.has_failed or self._start_sum is None:
                self.has_failed = True
            elif work := self._start_sum(numbers):
                work.wait()
        except RuntimeError:  # holds on to nothing: the group must become unreferenced
            self.has_failed = True
        if self.has_failed:
            self.parts.fail()
        self.drop_references()
        self.waited_seconds = time.monotonic() - began + self.parts.waited_seconds
        *sums, due = numbers.tolist()
        self.sums = Piggyback.from_numbers(sums)
        self.is_checkpoint_agreed = due > 0 and not self.has_failed

    def end_step(self) -> None:
        self._clear()

    def end_steps(self) -> None:
        """Outside of steps the others take no part, but where the script evaluates on all."""
        self._start_sum = None
        self._is_in_step = False
        self.parts.end_steps()
        self._clear()

    def rehearse(self) -> None:
        """What follows is computed here alone, and means nothing."""
        self.parts.rehearse()

    @property
    def trained_next(self) -> Trained:
        return ()

    def drop_references(self) -> None:
        self._start_sum = None

    def several_passes(self) -> AbstractContextManager[None]:
        """Each pass is summed by itself, and they add up."""
        return nullcontext()

    def held_back(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _take(self, parameter: torch.nn.Parameter) -> None:
        """Keep what is not the whole sum yet where the script neither clips nor sees it."""
        if not self._is_in_step or parameter.grad is None:
            return
        kept = self._kept.pop(parameter, None)
        if kept is not None:
            parameter.grad.add_(kept)
        if not self._is_last:
            self._kept[parameter], parameter.grad = parameter.grad, None

    def _clear(self) -> None:
        self._kept.clear()
        for parameter in self._model.parameters():
            parameter.grad = None
