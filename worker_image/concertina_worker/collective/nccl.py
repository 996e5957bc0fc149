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
- PyTorch's watchdog threads would end the process after an error: `gpu_offer` switches them off.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any

import torch

from concertina_worker.collective.gpu_offer import PATIENCE_SECONDS, GpuOffer
from concertina_worker.collective.wires import Wires
from concertina_worker.device.kernels import LOOK_SECONDS
from concertina_worker.process import background


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
        self._is_judged = False  # whether NCCL works has been told to the offer
        self._end = _Abort(process_group)
        wires.when_cut(self._end)
        weakref.finalize(self, self._end)

    def takes(self, tensor: torch.Tensor) -> bool:
        return tensor.device.type == self._offer.device_type

    def start_sum(self, tensor: torch.Tensor) -> NcclWork:
        """Start to add up over all members, in place. Raises RuntimeError when one is lost."""
        return self.start(tensor.device, lambda members: members.allreduce([tensor]))

    def start(self, device: torch.device, collective: Callable[[Any], Any]) -> NcclWork:
        """Start any collective of this GPU's. Raises RuntimeError when a member is lost."""
        if device not in self._connected:
            self._connect(device)
        return NcclWork(collective(self._process_group), self)

    def finish(self, work: Any) -> None:
        """Let the host wait for a sum. Raises RuntimeError when it will not come about."""
        try:
            self._await_end(work.is_completed, seconds=self._timeout_seconds)
            work.wait()  # raises what NCCL has found
        except RuntimeError:
            self._judge(self._offer.doubt)
            raise
        self._judge(self._offer.prove)

    def _connect(self, device: torch.device) -> None:
        """Add up one number: in a thread, because nothing interrupts a wait for lost members."""
        process_group = self._process_group
        first = _in_thread(lambda: process_group.allreduce([torch.zeros(1, device=device)]))
        try:
            self._await_end(first.done, seconds=PATIENCE_SECONDS)
            self._await_end(first.result().is_completed, seconds=PATIENCE_SECONDS)
        except RuntimeError as error:
            is_loss = self._wires.are_cut
            self._judge(self._offer.doubt if is_loss else partial(self._offer.withdraw, error))
            raise
        self._connected.add(device)

    def _await_end(self, has_ended: Callable[[], bool], *, seconds: float) -> None:
        give_up_at = time.monotonic() + seconds
        while not (self._wires.are_cut or has_ended()):
            if time.monotonic() > give_up_at:
                self._see_off_kernels()
                raise RuntimeError(f"no sum came about in {seconds:.0f} s")
            time.sleep(LOOK_SECONDS)
        if self._wires.are_cut:  # kernels of an aborted communicator end, too
            self._see_off_kernels()
            raise RuntimeError("the group was given up")

    def _see_off_kernels(self) -> None:
        """Wait until no kernel can write into memory that is used for something else by then."""
        self._end()
        for device in self._connected:
            if device.type == "cuda":
                torch.cuda.synchronize(device)

    def _judge(self, tell: Callable[[], None]) -> None:
        if not self._is_judged:
            self._is_judged = True
            tell()


class NcclWork:
    """A sum under way."""

    def __init__(self, work: Any, exchange: NcclExchange) -> None:
        self._work = work
        self._exchange = exchange

    def wait(self) -> None:
        """Return when the sum is there. Raises RuntimeError when it will not be."""
        self._exchange.finish(self._work)


class _Abort:
    """Aborts a communicator, once; whoever asks for it meanwhile waits until that is done."""

    def __init__(self, process_group: Any) -> None:
        self._process_group = process_group
        self._ending = threading.RLock()  # the garbage collector may ask in the middle of it

    def __call__(self) -> None:
        with self._ending:
            process_group, self._process_group = self._process_group, None
            if process_group is not None:
                with suppress(RuntimeError):  # it ends badly, or has done so: it is gone anyhow
                    process_group.abort()


def _in_thread(call: Callable[[], Any]) -> Future[Any]:
    """Run it in a daemon thread, so that a call that hangs does not keep the process alive."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as error:  # noqa: BLE001 - whatever it is, who waits must learn of it
            future.set_exception(RuntimeError(repr(error)))

    background.start("concertina_nccl", run)
    return future
