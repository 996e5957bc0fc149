"""How busy are this machine's GPUs? Asked of NVIDIA's management library (NVML).

Through `nvidia-ml-py`, which NVIDIA keeps: it needs no CUDA context, so that reading takes no
memory of a GPU. Where the package or the driver is missing there is nothing to read.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, TypeVar

from cluster.usage.readings import GpuSample

Answer = TypeVar("Answer")

_log: Final = logging.getLogger(__name__)


def load() -> Any:
    """Return the library, ready to be asked; None: there is none, or no driver."""
    try:
        library = import_module("pynvml")
    except ImportError:
        return None
    try:
        library.nvmlInit()
    except library.NVMLError as problem:
        _log.info("GPUs are not read: %s", problem, extra={"action": "read_gpus"})
        return None
    return library


@dataclass(slots=True, kw_only=True)
class NvidiaGpus:
    """All of them; the library is loaded when they are read first."""

    load: Callable[[], Any] = load
    _library: Any = None
    _is_loaded: bool = False
    _handles: dict[str, Any] = field(default_factory=dict)

    def read(self) -> Mapping[str, GpuSample]:
        """Read use by UUID and by number as the driver counts; never raises."""
        if not self._is_loaded:
            self._library, self._is_loaded = self.load(), True
        if self._library is None:
            return {}
        if not self._handles:
            self._find()
        uses: dict[int, GpuSample] = {}
        for handle in self._handles.values():
            if id(handle) not in uses:
                uses[id(handle)] = self._use(handle)
        return {name: uses[id(handle)] for name, handle in self._handles.items()}

    def _find(self) -> None:
        for index in range(self._ask(self._library.nvmlDeviceGetCount) or 0):
            handle = self._ask(self._library.nvmlDeviceGetHandleByIndex, index)
            if handle is None:
                continue
            self._handles[str(index)] = handle
            if uuid := self._ask(self._library.nvmlDeviceGetUUID, handle):
                self._handles[uuid] = handle

    def _use(self, handle: Any) -> GpuSample:
        rates = self._ask(self._library.nvmlDeviceGetUtilizationRates, handle)
        memory = self._ask(self._library.nvmlDeviceGetMemoryInfo, handle)
        milliwatts = self._ask(self._library.nvmlDeviceGetPowerUsage, handle)
        return GpuSample(
            utilisation=None if rates is None else min(rates.gpu / 100, 1.0),
            memory_bytes=None if memory is None else int(memory.used),
            power_watts=None if milliwatts is None else milliwatts / 1000,
        )

    def _ask(self, question: Callable[..., Answer], *about: Any) -> Answer | None:
        try:
            return question(*about)
        except self._library.NVMLError:  # not supported, or it has fallen off the bus
            return None
