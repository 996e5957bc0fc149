"""The gauge of NVIDIA's GPUs: the driver's management library, through `nvidia-ml-py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from concertina_worker.device.gauge import GpuReading

Answer = TypeVar("Answer")


class Nvml:
    """Needs no CUDA context, so that reading takes no memory of the GPU.

    Raises:
        NvmlUnavailable: the package or the driver is missing.
    """

    def __init__(self) -> None:
        try:
            import pynvml  # noqa: PLC0415 - only workers with GPUs need it
        except ImportError as error:
            raise NvmlUnavailable("the package nvidia-ml-py is not installed") from error
        self._nvml: Any = pynvml
        try:
            self._nvml.nvmlInit()
        except self._nvml.NVMLError as error:
            raise NvmlUnavailable(str(error)) from error

    def read(self, gpu: str) -> GpuReading:
        handle = self._ask(self._handle, gpu)
        if handle is None:
            return GpuReading()
        rates = self._ask(self._nvml.nvmlDeviceGetUtilizationRates, handle)
        memory = self._ask(self._nvml.nvmlDeviceGetMemoryInfo, handle)
        return GpuReading(
            utilisation=None if rates is None else rates.gpu / 100,
            memory_bytes=None if memory is None else int(memory.used),
            memory_total_bytes=None if memory is None else int(memory.total),
        )

    def _handle(self, gpu: str) -> Any:
        """Numbers count as NVML does, because of `CUDA_DEVICE_ORDER=PCI_BUS_ID`."""
        if gpu.isdecimal():
            return self._nvml.nvmlDeviceGetHandleByIndex(int(gpu))
        return self._nvml.nvmlDeviceGetHandleByUUID(gpu)

    def _ask(self, question: Callable[[Any], Answer], subject: Any) -> Answer | None:
        try:
            return question(subject)
        except self._nvml.NVMLError:  # not supported, or the GPU has fallen off the bus
            return None


class NvmlUnavailable(Exception):
    """GPUs cannot be read here; the message tells why."""
