"""What is a worker without a platform? A group of one that nothing ever happens to."""

from __future__ import annotations

from typing import Any

import torch

from concertina_worker.agreement import Offer, Tally
from concertina_worker.membership import Loop


class Alone:
    """Stands in for `Membership` when the script runs by itself."""

    rank = 0
    size = 1
    generation = 0
    has_ended = False
    part: tuple[int, int | None] = (1, 0)

    def enter(self, loop: Loop) -> None:
        checkpoint = loop.load_checkpoint()
        if checkpoint is None:
            loop.state.begin_afresh()
        else:
            loop.state.load_checkpoint(checkpoint)

    def turn(self, loop: Loop) -> None:
        """Nothing to agree on."""

    def start_sum(self, tensor: torch.Tensor) -> Any:  # noqa: ARG002
        return None

    def offer(self) -> Offer:
        return Offer()

    def finish_handover(self) -> bool:
        return True

    def decide(self, tally: Tally) -> None:
        """There is nobody to agree with."""

    def fail(self) -> None:
        """There is nobody to lose."""

    def mean(self, value: float) -> float:
        return value

    def finish(self) -> None:
        """There is nobody to tell."""

    def tell(self, kind: str, **fields: Any) -> None:
        """There is nobody to tell."""

    def tell_length(self, total_samples: int) -> None:
        """There is nobody to tell."""

    def close(self) -> None:
        """There is nothing to close."""
