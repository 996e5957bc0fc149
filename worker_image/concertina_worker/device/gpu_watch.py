"""How busy are this worker's GPUs, and how full? Read once a second and told, if they answer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Final, TypeVar

from concertina_worker.device.gauge import GpuGauge, GpuReading
from concertina_worker.device.nvml import Nvml, NvmlUnavailable
from concertina_worker.protocol import GpuUse
from concertina_worker.wire import FromWorker

READ_SECONDS: Final = 1.0

Number = TypeVar("Number", int, float)

_log = logging.getLogger(__name__)


def watch(gpus: Sequence[str], tell: Callable[..., None]) -> None:
    """Watch these GPUs, if any, in the background; `tell(kind, use=…)` must not block."""
    if not gpus:
        return
    try:
        gauge = Nvml()
    except NvmlUnavailable as reason:
        _log.warning("The use of GPUs cannot be measured: %s action=go_on", reason)
        return
    GpuWatch(gauge, gpus, tell).start()


class GpuWatch:
    """Tells the coordinator how the GPUs of one worker are used."""

    def __init__(self, gauge: GpuGauge, gpus: Sequence[str], tell: Callable[..., None]) -> None:
        self._gauge = gauge
        self._gpus = gpus
        self._tell = tell
        self._pause = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="concertina_gpu_watch", daemon=True).start()

    def run_once(self) -> bool:
        """Read and tell; False when there was nothing to tell."""
        use = use_of([self._gauge.read(gpu) for gpu in self._gpus])
        if use:
            self._tell(FromWorker.GPU, use=use)
        return bool(use)

    def _run(self) -> None:
        while not self._pause.wait(READ_SECONDS):
            self.run_once()


def use_of(readings: Sequence[GpuReading]) -> GpuUse:
    """All GPUs of a worker together: their mean utilisation, the sum of their memory."""
    use = GpuUse()
    if busy := _known(reading.utilisation for reading in readings):
        use["gpu_utilisation"] = fmean(busy)
    if used := _known(reading.memory_bytes for reading in readings):
        use["gpu_memory_bytes"] = sum(used)
    if total := _known(reading.memory_total_bytes for reading in readings):
        use["gpu_memory_total_bytes"] = sum(total)
    return use


def _known(values: Iterable[Number | None]) -> list[Number]:
    return [value for value in values if value is not None]
