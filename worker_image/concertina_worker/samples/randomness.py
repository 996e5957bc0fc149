"""Which random numbers does the loading of a sample see? The same on whichever worker it happens.

Before a sample is loaded the generators of PyTorch, Python and NumPy are seeded with the job's
seed, the epoch and the sample's number. So random augmentation does not depend on the number of
workers, nor on the processes that load. Afterwards the generators are as they were: what the
script draws for itself (dropout) is not touched.
"""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterator
from typing import Any

import torch


@contextlib.contextmanager
def seeded(*numbers: int) -> Iterator[None]:
    """Generators seeded with these numbers inside, and as before afterwards."""
    with kept():
        seed(*numbers)
        yield


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Leave the generators as they were, whatever is drawn inside."""
    before = get_state()
    try:
        yield
    finally:
        set_state(before)


def seed(*numbers: int) -> None:
    """Seed all generators with a mixture of the numbers."""
    mixed = hash(numbers) % 2**64  # of whole numbers: the same in every process
    torch.default_generator.manual_seed(mixed)
    random.seed(mixed)
    if numpy := _numpy_random():
        numpy.seed(mixed % 2**32)


def get_state() -> tuple[Any, ...]:
    numpy = _numpy_random()
    return torch.get_rng_state(), random.getstate(), numpy.get_state() if numpy else None


def set_state(state: tuple[Any, ...]) -> None:
    torch.set_rng_state(state[0])
    random.setstate(state[1])
    if (numpy := _numpy_random()) and state[2] is not None:
        numpy.set_state(state[2])


def _numpy_random() -> Any:
    """NumPy's global generator, if anybody uses NumPy."""
    return getattr(sys.modules.get("numpy"), "random", None)
