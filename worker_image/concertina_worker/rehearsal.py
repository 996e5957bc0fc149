"""What must have been called once before a worker has threads? All that its threads call.

The first call of a function in C++ often registers something with the C library, or makes a static
object, under a lock that no fork resets. A loading process that is forked in that moment by another
thread waits for the lock for ever, and with it the whole job. A worker's threads build groups, hand
state over and write checkpoints. So the main thread does each of that once, on a few numbers,
before there is any other thread: in the zygote for all its forks, else where a worker begins.
"""

from __future__ import annotations

import contextlib
import functools
import io
from typing import Any, Final

import torch

from concertina_worker.collective.rendezvous import gloo_group
from concertina_worker.collective.store import Board, GlooStore
from concertina_worker.collective.wires import Wires
from concertina_worker.state.digest import digest
from concertina_worker.state.transfer import send_or_receive

_HOST: Final = "127.0.0.1"
_SECONDS: Final = 10.0


@functools.cache
def rehearse() -> None:
    """Call once what threads will call; the second time there is nothing left to do."""
    with contextlib.suppress(RuntimeError):  # there is no such address: nor will others meet there
        _exchange()
    digest(torch.zeros(2))
    torch.save(_tensors(), io.BytesIO())


def _exchange() -> None:
    """Exchange in a group of one, which ends with this call, and its threads with it."""
    store = GlooStore(Board(), Wires(), prefix="", timeout_seconds=_SECONDS)
    group: Any = gloo_group(store, _HOST, (0, 1), timeout_seconds=_SECONDS)
    for tensor in _tensors():
        group.allreduce([tensor]).wait()
        send_or_receive(group, [tensor], root=0)
        send_or_receive(group, [tensor, tensor.clone()], root=0)
        bool(tensor[0])


def _tensors() -> list[torch.Tensor]:
    return [torch.ones(2), torch.tensor([True, False], dtype=torch.int32), torch.tensor([1])]
