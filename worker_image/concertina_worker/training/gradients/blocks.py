"""How does a script say that a micro-batch has several backward passes?

Which pass is the last cannot be known otherwise, and with the last one begins the exchange.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from concertina_worker.training.gradients.capture import Capture


@contextmanager
def several_passes(capture: Capture) -> Iterator[None]:
    """Enclose all backward passes of a micro-batch: the exchange is at the end of the last block.

    Outside of steps, in a rehearsal, there is nothing to exchange.

    Raises:
        StepBlockError: inside another block.
        SecondBackwardError: the gradients of this step are exchanged already.
    """
    if capture.is_open:
        raise StepBlockError
    if not capture.is_in_step:
        yield
        return
    capture.open()
    is_valid = False
    try:
        yield
        is_valid = True
    finally:
        capture.close(is_valid=is_valid)


@contextmanager
def held_back(capture: Capture) -> Iterator[None]:
    """Enclose all backward passes of a micro-batch but the last."""
    before, capture.holds_back = capture.holds_back, True
    try:
        yield
    finally:
        capture.holds_back = before


class StepBlockError(Exception):
    """`with job.step():` belongs inside `for … in job.batches(…)`, and not inside itself."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)


class StepInsideBlockError(Exception):
    """The gradients are complete only where `with job.step():` ends.

    Clip gradients and call optimizer.step() behind the block.
    """

    def __init__(self) -> None:
        super().__init__(self.__doc__)
