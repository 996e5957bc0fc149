"""Where do gradients lie while they are summed? Each in a slot of a bucket, one tensor in memory.

Buckets are filled roughly in the order in which a backward pass makes gradients, so that one can
be exchanged while the next is filled. All workers must have the same layout: the same parameters
of the model, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import torch

BUCKET_BYTES: Final = 4 * 2**20  # guessed: smaller overlaps more, larger costs less latency
_WIDE: Final = (torch.float32, torch.float64)  # dtypes that count exactly


@dataclass(slots=True, eq=False)
class Slot:
    """The place of one parameter's gradient."""

    parameter: torch.nn.Parameter
    view: torch.Tensor  # of its bucket, in the parameter's shape and order of dimensions
    bucket: int
    is_filled: bool = False  # has a gradient in this step
    completed_in: int = 0  # number of the last micro-batch whose gradient it has

    @property
    def gradient(self) -> torch.Tensor | None:
        """The gradient beside the slot, where autograd put it. Raises SparseGradientError."""
        gradient = self.parameter.grad
        if gradient is not None and gradient.layout is not torch.strided:
            raise SparseGradientError
        return gradient

    def add(self, gradient: torch.Tensor, weight: float) -> None:
        if gradient.requires_grad:  # of a backward pass with create_graph
            gradient = gradient.detach()
        if self.is_filled:
            self.view.add_(gradient, alpha=weight)
        else:
            torch.mul(gradient, weight, out=self.view)
            self.is_filled = True


@dataclass(slots=True, eq=False)
class GradientBucket:
    """A stretch of memory that is exchanged as one."""

    gradients: torch.Tensor
    exchanged: torch.Tensor  # the same memory as real numbers, with the piggyback in the last
    slots: list[Slot] = field(default_factory=list)

    def clear_unfilled(self) -> None:
        """Clear slots that were not filled: what lies there is of an earlier step."""
        for slot in self.slots:
            if not slot.is_filled:
                slot.view.zero_()


class Layout:
    """Slots and buckets for some of a model's parameters."""

    def __init__(
        self, parameters: Sequence[torch.nn.Parameter], trained: Sequence[bool], *, piggyback: int
    ) -> None:
        """`piggyback`: so many numbers travel behind the last gradient."""
        self.slots: list[Slot | None] = [None] * len(parameters)
        self.buckets: list[GradientBucket] = []
        groups = [*_divided(p for p, is_in in zip(parameters, trained, strict=True) if is_in)]
        rides_along = bool(groups) and groups[-1][0].dtype in _WIDE
        for group in groups:
            is_last = rides_along and group is groups[-1]
            self._add_bucket(group, extra=piggyback if is_last else 0)
        if not rides_along:
            numbers = torch.zeros(piggyback)
            self.buckets.append(GradientBucket(numbers[:0], numbers))
        self._piggyback = self.buckets[-1].exchanged[-piggyback:]
        places = {slot.parameter: slot for bucket in self.buckets for slot in bucket.slots}
        self.slots = [places.get(parameter) for parameter in parameters]
        self.is_complete = all(trained)  # nothing is left out

    def begin_step(self) -> None:
        for bucket in self.buckets:
            for slot in bucket.slots:
                slot.is_filled = False
                slot.completed_in = 0

    def note_kept(self) -> None:
        """Gradients stay beside their slots in this step; note which there are."""
        for bucket in self.buckets:
            for slot in bucket.slots:
                slot.is_filled = slot.gradient is not None

    def touch(self) -> None:
        """Have the operating system give all the memory now: in a step it would cost time."""
        for bucket in self.buckets:
            bucket.exchanged.zero_()

    def write_piggyback(self, numbers: Sequence[float]) -> None:
        """Write it; on a GPU this waits for the end of the backward pass: the exchange follows."""
        self._piggyback.copy_(torch.tensor(numbers, dtype=self._piggyback.dtype))

    def read_piggyback(self) -> list[float]:
        numbers: list[float] = self._piggyback.tolist()
        return numbers

    @property
    def squared_norm(self) -> float:
        """The squared norm of all gradients together; it means something after the exchange."""
        return sum(squared_norm(bucket.gradients).item() for bucket in self.buckets)

    def _add_bucket(self, parameters: list[torch.nn.Parameter], *, extra: int) -> None:
        size = sum(parameter.numel() for parameter in parameters)
        first = parameters[0]
        memory = torch.empty(size + extra, dtype=first.dtype, device=first.device)
        exchanged = torch.view_as_real(memory) if memory.is_complex() else memory
        bucket = GradientBucket(memory[:size], exchanged)
        stretches = torch.split(memory[:size], [parameter.numel() for parameter in parameters])
        for parameter, stretch in zip(parameters, stretches, strict=True):
            view = _shaped_like(parameter, stretch)
            bucket.slots.append(Slot(parameter, view, len(self.buckets)))
        self.buckets.append(bucket)


def squared_norm(gradient: torch.Tensor) -> torch.Tensor:
    """The squared norm, in float32 at least: the squares of narrow numbers overflow soon."""
    real = torch.view_as_real(gradient) if gradient.is_complex() else gradient
    dtype = real.dtype if real.dtype in _WIDE else torch.float32
    norm: torch.Tensor = torch.linalg.vector_norm(real, dtype=dtype)
    return norm.square()


def _divided(parameters: Iterable[torch.nn.Parameter]) -> Iterator[list[torch.nn.Parameter]]:
    """Divide them into buckets of one dtype and device each; those of wide numbers come last."""
    kinds: dict[tuple[torch.dtype, torch.device], list[torch.nn.Parameter]] = {}
    for parameter in reversed([*parameters]):  # the order in which gradients appear
        kinds.setdefault((parameter.dtype, parameter.device), []).append(parameter)
    for _, members in sorted(kinds.items(), key=lambda kind: kind[0][0] in _WIDE):
        bucket: list[torch.nn.Parameter] = []
        for parameter in members:
            if sum(member.nbytes for member in bucket) >= BUCKET_BYTES:
                yield bucket
                bucket = []
            bucket.append(parameter)
        yield bucket


def _shaped_like(parameter: torch.Tensor, stretch: torch.Tensor) -> torch.Tensor:
    """Shape it in the parameter's order of dimensions: optimizers are slow where it differs."""
    order = sorted(range(parameter.dim()), key=parameter.stride, reverse=True)
    permuted = parameter.permute(order)
    if not permuted.is_contiguous():
        return stretch.view(parameter.shape)
    return stretch.view(permuted.shape).permute([order.index(d) for d in range(len(order))])


class SparseGradientError(Exception):
    """A parameter has a sparse gradient, which cannot be exchanged.

    Make it dense: `nn.Embedding(…, sparse=False)`.
    """

    def __init__(self) -> None:
        super().__init__(self.__doc__)
