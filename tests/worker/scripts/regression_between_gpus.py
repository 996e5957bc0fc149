"""The regression as between GPUs: with a stand-in that is as deaf to lost members as NCCL is."""

from __future__ import annotations

import os
import runpy
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch.distributed.distributed_c10d import ProcessGroupGloo

import concertina_worker.wiring
from concertina_worker.collective.gpu_offer import GpuOffer


class DeafGroup:
    """Gloo that connects when it is first used, and spins where gloo would tell of a loss."""

    def __init__(self, store: Any, place: tuple[int, int]) -> None:
        self._connect = lambda: ProcessGroupGloo(store, *place, timedelta(seconds=120))
        self._group: Any = None
        self.was_aborted = False

    def allreduce(self, tensors: list[torch.Tensor]) -> DeafWork:
        self._group = self._group or self._connect()
        return DeafWork(self._group.allreduce(tensors), self)

    def abort(self) -> None:
        self.was_aborted = True
        self._group = None


class DeafWork:
    def __init__(self, work: Any, group: DeafGroup) -> None:
        self._work = work
        self._group = group

    def is_completed(self) -> bool:
        if self._group.was_aborted:
            return True
        try:
            return self._work.is_completed() and self._work.wait()
        except RuntimeError:
            return False

    def wait(self) -> None:
        """Raises nothing, even if it was aborted."""


class RefusingGroup:
    def allreduce(self, _tensors: list[torch.Tensor]) -> DeafWork:
        raise RuntimeError("NCCL does not work here")

    def abort(self) -> None:
        """There is nothing to abort."""


class StandInOffer(GpuOffer):
    device_type = "cpu"

    def __init__(self, _name: str) -> None:
        super().__init__()
        self.name = f"GPU-{os.environ['CONCERTINA_WORKER_ID']}"

    def build(self, store: Any, place: tuple[int, int]) -> Any:
        refuses = os.environ.get("CONCERTINA_STAND_IN") == "refuses"
        return RefusingGroup() if refuses else DeafGroup(store, place)


concertina_worker.wiring.GpuOffer = StandInOffer  # type: ignore[misc] # here the worker would ask
runpy.run_path(str(Path(__file__).with_name("regression.py")), run_name="__main__")
