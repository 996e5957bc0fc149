"""What does the state of a training consist of where each worker holds only a part of it?

Declared here, where the state is, and made in `sharding`, which loads what whole models never need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from concertina_worker.collective.group import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRows:
    """Files from which each worker reads the rows that are its own."""

    weights: Path
    optimizers: Path | None = None  # None: these begin anew
    skip: tuple[str, ...] = ()  # patterns of the names of weights that stay as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRows:
    """One tensor, and what this worker has of it."""

    name: str
    shape: torch.Size  # of all of it
    first_row: int
    rows: torch.Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldParts:
    """What one worker has of everything, on the host: training on does not change it."""

    weights: list[HeldRows]
    optimizers: list[HeldRows]
    small: Mapping[Any, Any]  # of optimizers: what is the same on all workers


class StateBesideParts(Protocol):
    """All else that belongs to a training; each worker has it."""

    step: int
    is_complete: bool

    def header(self) -> dict[str, Any]: ...

    def take_header(self, header: dict[str, Any]) -> None: ...

    def buffers(self) -> list[torch.Tensor]: ...

    def has_arrived(self) -> None: ...


class Parts(Protocol):
    """What this worker holds of the model and its optimizers."""

    device: torch.device
    seconds: float  # for which rows were on their way, the last time
    meetings: int  # counts up whenever workers begin, or begin again after a loss
    is_new: bool  # what the script made: no checkpoint has it yet
    kept: KeptRows | None  # where a training goes on from; None: from what the script made

    # -- in a step -----------------------------------------------------------------------------

    def watch_gradients(self, on_gradient: Callable[[torch.nn.Parameter], None]) -> None:
        """Call this with each parameter whose sum over the workers is in `.grad` now."""

    def wait_within(self, waiting: Callable[[], AbstractContextManager[None]]) -> None:
        """Wait for other workers within this, so that it is known who waits and who hangs."""

    def waiting(self) -> AbstractContextManager[None]:
        """Return within what other workers are waited for: see `wait_within`."""

    @property
    def waited_seconds(self) -> float:
        """The time that this worker was in collectives since the step began."""

    def weigh(self, weight: float) -> None:
        """Let the gradients that come next count as so much of the batch."""

    def begin_step(self) -> None:
        """Let nothing be raised from here on if a worker is lost: see `has_failed`."""

    def rehearse(self) -> None:
        """Exchange nothing, and let what would be gathered be zero."""

    def end_steps(self) -> None:
        """Exchange what the script asks for; a loss is an error."""

    @property
    def has_failed(self) -> bool:
        """A worker was lost: what is computed until all meet again goes nowhere."""

    def fail(self) -> None:
        """The same, as found elsewhere."""

    # -- between steps -------------------------------------------------------------------------

    def move(self, group: Group, state: StateBesideParts) -> None:
        """Let rows go to the members of this group; a joiner gets all of its state here.

        Raises GroupLostError.
        """

    def meet(
        self,
        group: Group,
        state: StateBesideParts,
        begin: Callable[[], None],
        furthest_step: Callable[[], int],
    ) -> int:
        """Give each member its part, from where `begin` says; returns how many steps were lost.

        Raises GroupLostError.
        """

    def hold(self) -> HeldParts:
        """Return a copy of what this worker has."""

    def take_small(self, small: Mapping[Any, Any]) -> None:
        """Take back what `hold` gave, when it is read again."""

    @property
    def model_bytes(self) -> int:
        """Return the size of all workers' parts together."""

    @property
    def place(self) -> tuple[int, int]:
        """Return the rank of this worker, of how many."""
