"""Do all workers go through the same data? They tell each other while a step runs.

The first step of an epoch carries one more exchange: each worker's number of samples, fingerprint
of their order, and how far it loads ahead. In a stream every step does, for there nobody knows
beforehand where it ends. Nobody waits for it before the end of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from concertina_worker.samples.meeting import Row, check_place, table_of

_UNKNOWN = -1


class PendingCollective(Protocol):
    """A collective under way."""

    def wait(self) -> Any: ...


StartSum = Callable[[torch.Tensor], PendingCollective | None]
"""Starts the sum over all workers, in place; None when there is nobody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What one worker sees of the data."""

    length: int | None
    fingerprint: int | None
    batch_stop: int
    steps_ahead: int

    def to_row(self) -> Row:
        length, fingerprint = (
            _UNKNOWN if number is None else number for number in (self.length, self.fingerprint)
        )
        return (length, fingerprint, self.batch_stop, self.steps_ahead)


class ViewComparison:
    """One exchange of views under way."""

    def __init__(self, own: View, *, rank: int, size: int, exchange: StartSum) -> None:
        """Raises RuntimeError when a worker is lost."""
        self._own = own
        self._rank = rank
        self._numbers = table_of(own.to_row(), rank=rank, size=size)
        self._work = exchange(self._numbers)

    def steps_ahead(self) -> int:
        """Return how far the one loads ahead that does so furthest; blocks until all have told.

        Raises:
            RuntimeError: a worker was lost.
            DataMismatchError: this worker's data differ from those of the first in rank.
            OtherDataMismatchError: another's do.
            ElsewhereError: another worker is not in a step.
        """
        if self._work is not None:
            self._work.wait()
        check_place(self._numbers.tolist())
        columns: list[list[int]] = self._numbers.T.tolist()
        *seen, ahead = columns
        for what, values in zip(("length", "fingerprint", "batch_stop"), seen, strict=True):
            self._check(what, values)
        return max(ahead)

    def _check(self, what: str, values: list[int]) -> None:
        if values[self._rank] != values[0]:
            raise DataMismatchError(what, values[self._rank], values[0])
        if any(value != values[0] for value in values):
            raise OtherDataMismatchError


def check_resumed(own: int, before: int | None, what: str) -> None:
    """Check that the data is what this epoch began with, when a job resumes in its middle."""
    if before is not None and own != before:
        raise DataMismatchError(what, own, before)


_MESSAGES = {
    "length": "this worker's data set has {own} samples, but the epoch has begun with {other}",
    "batch_stop": "this worker's stream goes to sample {own}, the first worker's to {other}",
    "fingerprint": (
        "this worker goes through the data set in another order than the epoch has begun with "
        "(fingerprints {own} and {other})"
    ),
}


class DataMismatchError(Exception):
    """Workers, or attempts, do not see the same data: exactly once is impossible."""

    def __init__(self, what: str, own: int, other: int) -> None:
        sentence = _MESSAGES[what].format(own=_shown(own), other=_shown(other))
        super().__init__(
            f"{sentence}: every worker must see the same samples in the same order, in each attempt"
        )
        self.own = own
        self.other = other


class OtherDataMismatchError(Exception):
    """Another worker sees other data than the first in rank, and will leave."""

    def __init__(self) -> None:
        super().__init__("another worker sees other data")


def _shown(value: int) -> str:
    return "still unknown" if value == _UNKNOWN else str(value)
