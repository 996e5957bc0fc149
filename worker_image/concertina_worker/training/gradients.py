"""How do the gradients of a step become the sum over all workers? In one flat buffer per dtype.

Every parameter owns a view of a buffer. A hook adds each fresh gradient to its view, weighted by
the micro-batch's part of the global batch, so that after the last micro-batch the views of all
workers add up to the gradient of the global mean loss, however uneven the split. Buckets of the
buffer are exchanged as soon as the backward pass has filled them; the exchange is complete when
`backward()` returns, so that clipping sees the true gradient.

Behind the last gradient two elements carry the agreement on a switch: see `agreement`.
Assumption: the script's loss is the mean over the micro-batch it was given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import torch

from concertina_worker.membership.agreement import Offer, Tally

BUCKET_BYTES: Final = 4 * 2**20  # guessed: smaller overlaps more, larger costs less latency
_WIDE: Final = (torch.float32, torch.float64)  # dtypes that count exactly


class Work(Protocol):
    """A collective under way."""

    def wait(self) -> Any: ...


Exchange = Callable[[torch.Tensor], Work | None]
"""Starts the sum over all workers, in place; None when there is nobody else."""


@dataclass(slots=True, kw_only=True)
class _Bucket:
    """A stretch of a buffer that is exchanged as one."""

    tensor: torch.Tensor
    parameters: int
    missing: int = 0  # parameters whose gradient has not come yet


@dataclass(slots=True, kw_only=True)
class _Step:
    """What is going on in the current step."""

    weight: float = 0.0
    is_last: bool = False
    launched: int = 0
    works: list[Work] = field(default_factory=list)
    is_finishing: bool = False  # the backward pass will call `finish`
    is_exchanged: bool = False
    has_failed: bool = False
    waited_seconds: float = 0.0


class Gradients:
    """The gradient buffers of a model."""

    def __init__(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        self._parameters = [p for p in parameters if p.requires_grad]
        self._views: dict[torch.nn.Parameter, torch.Tensor] = {}
        self._bucket_of: dict[torch.nn.Parameter, _Bucket] = {}
        self._buffers: list[torch.Tensor] = []
        self._buckets: list[_Bucket] = []
        self._agreement = torch.zeros(2)
        self._lay_out()
        self._step = _Step()
        self._exchange: Exchange = lambda _: None
        self._offer: Callable[[], Offer] = Offer
        for parameter in self._parameters:
            parameter.register_post_accumulate_grad_hook(self._accumulate)  # type: ignore[no-untyped-call] # torch

    # -- one step, in order --------------------------------------------------------------------

    def begin_step(self, exchange: Exchange, offer: Callable[[], Offer]) -> None:
        """`offer` is asked once, as late as possible, for this worker's part of the agreement."""
        self._step = _Step()
        self._exchange = exchange
        self._offer = offer
        for buffer in self._buffers:
            buffer.zero_()
        for bucket in self._buckets:
            bucket.missing = bucket.parameters
        self.hide()

    def begin_micro_batch(self, *, weight: float, is_last: bool) -> None:
        self._step.weight = weight
        self._step.is_last = is_last

    def finish(self) -> None:
        """Exchange what is left and wait; afterwards every `.grad` is the global gradient.

        Never raises for a lost worker: see `has_failed`.
        """
        if self._step.is_exchanged:
            return
        self._step.is_exchanged = True
        self._write_offer(self._offer())
        began = time.monotonic()
        try:
            self._launch_all()
            for work in self._step.works:
                work.wait()
        except RuntimeError:  # holds on to nothing: the group must become unreferenced
            self._step.has_failed = True
        self._step.works.clear()
        self._step.waited_seconds = time.monotonic() - began
        for parameter, view in self._views.items():
            parameter.grad = view

    @property
    def has_failed(self) -> bool:
        return self._step.has_failed

    @property
    def waited_seconds(self) -> float:
        """How long this worker waited for the exchange after its own backward pass."""
        return self._step.waited_seconds

    @property
    def tally(self) -> Tally:
        """Everybody's offers, summed; meaningful after `finish`."""
        first, second = self._agreement.tolist()
        return Tally(deltas=first, squares=second)

    def hide(self) -> None:
        """Take the gradients away from the parameters; the hook wants to see fresh ones."""
        for parameter in self._parameters:
            parameter.grad = None

    def ignore_next(self) -> None:
        """The next backward pass goes nowhere."""
        self._step = _Step()
        self.hide()

    def drop_references(self) -> None:
        """Forget the group: its sockets close when nobody refers to it."""
        self._step.works.clear()
        self._exchange = lambda _: None

    # -- inside the backward pass --------------------------------------------------------------

    def _accumulate(self, parameter: torch.nn.Parameter) -> None:
        step = self._step
        if step.is_exchanged:
            raise SecondBackwardError
        gradient = parameter.grad
        if gradient is None:
            return
        if step.weight:  # or what counts nothing might still be no number
            self._views[parameter].add_(gradient, alpha=step.weight)
        parameter.grad = None
        if step.is_last:
            self._note_complete(self._bucket_of[parameter])

    def _note_complete(self, bucket: _Bucket) -> None:
        if not self._step.is_finishing:
            self._finish_with_the_backward_pass()
        bucket.missing = max(bucket.missing - 1, 0)
        try:
            self._launch_complete()
        except RuntimeError:
            self._step.has_failed = True

    def _finish_with_the_backward_pass(self) -> None:
        self._step.is_finishing = True
        engine: Any = torch.autograd.Variable._execution_engine  # noqa: SLF001 - as DDP does
        engine.queue_callback(self.finish)

    def _launch_complete(self) -> None:
        """In the same order on all workers, or sums would mix; never the last one: see `finish`."""
        last = len(self._buckets) - 1
        while self._step.launched < last and not self._buckets[self._step.launched].missing:
            self._launch_next()

    def _launch_all(self) -> None:
        while self._step.launched < len(self._buckets):
            self._launch_next()

    def _launch_next(self) -> None:
        bucket = self._buckets[self._step.launched]
        self._step.launched += 1
        work = self._exchange(bucket.tensor)
        if work is not None:
            self._step.works.append(work)

    # -- layout --------------------------------------------------------------------------------

    def _write_offer(self, offer: Offer) -> None:
        self._agreement.copy_(torch.tensor([offer.delta, offer.delta**2]))

    def _lay_out(self) -> None:
        """Buffers by dtype and device, wide ones last: the agreement rides in the last bucket."""
        kinds = {(p.dtype, p.device): [] for p in self._parameters}  # type: ignore[var-annotated]
        for parameter in reversed(self._parameters):  # the order in which gradients appear
            kinds[parameter.dtype, parameter.device].append(parameter)
        for (dtype, device), members in sorted(kinds.items(), key=lambda kind: kind[0][0] in _WIDE):
            size = sum(p.numel() for p in members)
            buffer = torch.zeros(size + 2, dtype=dtype, device=device)
            self._buffers.append(buffer)
            self._fill(buffer, members)
        if self._buffers and self._buffers[-1].dtype in _WIDE:
            self._agreement = self._buffers[-1][-2:]
        else:
            self._buckets.append(_Bucket(tensor=self._agreement, parameters=0))

    def _fill(self, buffer: torch.Tensor, members: Sequence[torch.nn.Parameter]) -> None:
        start = offset = count = 0
        waiting: list[torch.nn.Parameter] = []
        for parameter in members:
            end = offset + parameter.numel()
            self._views[parameter] = buffer[offset:end].view_as(parameter)
            waiting.append(parameter)
            offset, count = end, count + 1
            is_full = (offset - start) * buffer.element_size() >= BUCKET_BYTES
            if is_full and count < len(members):
                self._close_bucket(buffer[start:offset], waiting)
                start, waiting = offset, []
        self._close_bucket(buffer[start:], waiting)

    def _close_bucket(self, tensor: torch.Tensor, members: list[torch.nn.Parameter]) -> None:
        bucket = _Bucket(tensor=tensor, parameters=len(members))
        self._buckets.append(bucket)
        self._bucket_of.update(dict.fromkeys(members, bucket))


class SecondBackwardError(Exception):
    """backward() ran again after the gradients of this step were exchanged.

    Add the losses of a micro-batch up and call backward() once.
    """

    def __init__(self) -> None:
        super().__init__(self.__doc__)
