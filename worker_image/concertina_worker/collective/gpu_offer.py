"""Do the members of a generation exchange through NCCL? If each has a GPU of its own, and it works.

Every worker tells the others the name of its GPU, so that all come to the same answer. One on
which NCCL does not work tells no name any more, and the next generation uses gloo.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from torch.distributed import Store, is_nccl_available  # type: ignore[attr-defined] # stubs lack it

PATIENCE_SECONDS: Final = 60.0  # guessed: for a communicator to come about, or to end
DOUBTS: Final = 2  # so many generations in a row without a sum speak against NCCL, not for a loss
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
        self._doubts = 0
        if self.name:
            os.environ.update(SETTINGS)

    def build(self, store: Store, place: tuple[int, int]) -> Any:
        """Make a process group that belongs to nobody but the caller; it does not connect yet."""
        from torch.distributed.distributed_c10d import (  # noqa: PLC0415 - not in builds for CPUs
            ProcessGroupNCCL,
        )

        options = ProcessGroupNCCL.Options()
        options._timeout = timedelta(seconds=PATIENCE_SECONDS)  # noqa: SLF001 - the only way
        return ProcessGroupNCCL(store, *place, options)

    def prove(self) -> None:
        """A generation has exchanged."""
        self._doubts = 0

    def doubt(self) -> None:
        """A generation was given up before it had exchanged anything."""
        self._doubts += 1
        if self._doubts == DOUBTS:
            self.withdraw(f"{DOUBTS} generations in a row were given up waiting for a first sum")

    def withdraw(self, reason: object) -> None:
        """NCCL does not work here: the next generations use gloo."""
        self.name = ""
        _log.warning("Gradients do not travel through NCCL: %s action=use_gloo", reason)


def is_possible(names: Sequence[str]) -> bool:
    """Every member has a GPU of its own: NCCL refuses two members on one."""
    return all(names) and len(set(names)) == len(names)
