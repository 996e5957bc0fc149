"""What can be read off a GPU? A port, and GPUs that read as they are told to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReading:
    """One GPU at one moment. None: it does not tell, as parts of a divided GPU (MIG) may not."""

    utilisation: float | None = None  # 0 to 1: part of the last moment a kernel ran in
    memory_bytes: int | None = None  # in use, by whichever process
    memory_total_bytes: int | None = None


class GpuGauge(Protocol):
    """Reads GPUs: `nvml` on a machine that has some, `GaugeInMemory` in tests."""

    def read(self, gpu: str) -> GpuReading:
        """Read the GPU that `CUDA_VISIBLE_DEVICES` calls so; never raises."""


class GaugeInMemory:
    """GPUs by name; others do not answer."""

    def __init__(self, readings: dict[str, GpuReading]) -> None:
        self.readings = readings

    def read(self, gpu: str) -> GpuReading:
        return self.readings.get(gpu, GpuReading())
