"""How do gradients on GPUs become sums? Through NCCL, beside the gloo group of the same members.

Written by the documentation and sources of NCCL and PyTorch; NOT YET RUN ON A GPU. Where it does
not come about, gradients travel through gloo. NCCL differs from gloo in what matters here:

- A collective only starts a kernel, and a lost member leaves it spinning for ever. So `wait` here
  lets the host wait until the kernel has ended, and raises if it was given up: no optimizer step
  is queued behind a sum that may never come.
- Nobody notices a lost member but by word of the coordinator. Then `Wires.cut` aborts the
  communicator, which ends its kernels; whatever they have written is not used.
- A kernel waits for its peers, and any call of CUDA may wait for all kernels of its GPU. So two
  communicators must not be busy at once, says NCCL's user guide. Everything else therefore goes
  through gloo, the state of joiners as well; and a generation makes its communicator in its first
  exchange, when that of the generation before is idle.
- PyTorch's watchdog threads would end the process after an error: they are switched off.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import torch
from torch.distributed import Store, is_nccl_available  # type: ignore[attr-defined] # stubs lack it

from concertina_worker.collective.wires import Wires

POLL_SECONDS: Final = 50e-6  # of a step that takes a hundred times as long
SETTINGS: Final = {  # read by PyTorch whenever a process group is made
    "TORCH_NCCL_BLOCKING_WAIT": "1",  # no watchdog thread; `wait` raises what NCCL has found
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": "0",
    "TORCH_NCCL_ENABLE_MONITORING": "0",
}

_log = logging.getLogger(__name__)


class GpuOffer:
    """The GPU with which this worker would exchange through NCCL; no name: none."""

    device_type = "cuda"  # of the tensors that go this way

    def __init__(self, name: str = "") -> None:
        self.name = name if is_nccl_available() else ""
        if self.name:
            os.environ.update(SETTINGS)

    def withdraw(self, reason: object) -> None:
        """NCCL does not work here: the next generations use gloo."""
        self.name = ""
        _log.warning("Gradients do not travel through NCCL: %s action=use_gloo", reason)

    def build(self, store: Store, place: tuple[int, int], *, timeout_seconds: float) -> Any:
        """Make a process group that belongs to nobody but the caller; it does not connect yet."""
        from torch.distributed.distributed_c10d import (  # noqa: PLC0415 - not in builds for CPUs
            ProcessGroupNCCL,
        )

        options = ProcessGroupNCCL.Options()
        options._timeout = timedelta(seconds=timeout_seconds)  # noqa: SLF001 - the only way
        return ProcessGroupNCCL(store, *place, options)


def is_possible(names: Sequence[str]) -> bool:
    """Every member has a GPU of its own: NCCL refuses two members on one."""
    return all(names) and len(set(names)) == len(names)


class NcclExchange:
    """Sums over the members of one generation; ends when nobody refers to it any more."""

    def __init__(
        self, process_group: Any, wires: Wires, offer: GpuOffer, *, timeout_seconds: float
    ) -> None:
        self._process_group = process_group
        self._wires = wires
        self._offer = offer
        self._timeout_seconds = timeout_seconds
        self._connected: set[torch.device] = set()
        wires.when_cut(weakref.finalize(self, _abort, process_group))

    def takes(self, tensor: torch.Tensor) -> bool:
        return tensor.device.type == self._offer.device_type

    def start_sum(self, tensor: torch.Tensor) -> NcclWork:
        """Start to add up over all members, in place. Raises RuntimeError when one is lost."""
        if tensor.device not in self._connected:
            self._connect(tensor.device)
        return NcclWork(self._process_group.allreduce([tensor]), self)

    def await_end(self, has_ended: Callable[[], bool]) -> None:
        """Let the host wait. Raises RuntimeError when it takes too long or was given up."""
        give_up_at = time.monotonic() + self._timeout_seconds
        while not (self._wires.are_cut or has_ended()):
            if time.monotonic() > give_up_at:
                raise RuntimeError(f"no sum came about in {self._timeout_seconds:.0f} s")
            time.sleep(POLL_SECONDS)
        if self._wires.are_cut:  # kernels of an aborted communicator end, too
            raise RuntimeError("the group was given up")

    def _connect(self, device: torch.device) -> None:
        """Add up one number: in a thread, because nothing interrupts a wait for lost members."""
        process_group = self._process_group
        first = _in_thread(lambda: process_group.allreduce([torch.zeros(1, device=device)]))
        try:
            self.await_end(first.done)
            self.await_end(first.result().is_completed)
        except RuntimeError as error:
            if not self._wires.are_cut:
                self._offer.withdraw(error)
            raise
        self._connected.add(device)


class NcclWork:
    """A sum under way."""

    def __init__(self, work: Any, exchange: NcclExchange) -> None:
        self._work = work
        self._exchange = exchange

    def wait(self) -> None:
        """Return when the sum is there. Raises RuntimeError when it will not be."""
        self._exchange.await_end(self._work.is_completed)
        self._work.wait()  # raises what NCCL has found


def _in_thread(call: Callable[[], Any]) -> Future[Any]:
    """Run it in a daemon thread, which a hanging call would otherwise keep the process alive by."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except RuntimeError as error:
            future.set_exception(error)

    threading.Thread(target=run, name="concertina_nccl", daemon=True).start()
    return future


def _abort(process_group: Any) -> None:
    with suppress(RuntimeError):  # it has ended already, or does so badly: it is gone anyhow
        process_group.abort()
