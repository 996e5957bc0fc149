"""What NVIDIA's library tells of GPUs: as made up where there is none, and really where there are.

The values are written by hand, as its documentation describes them: a GPU under load, and one that
does not tell its power.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from cluster.usage import nvidia
from cluster.usage.nvidia import NvidiaGpus
from cluster.usage.readings import GpuSample
from local_stack import gpus

UUIDS = ("GPU-aa", "GPU-bb")
LISTED = gpus.find()


@dataclass(slots=True)
class Recorded:
    """The library as it answered once."""

    questions: list[str] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)  # fallen off the bus

    class NVMLError(Exception):
        pass

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802 - the library's names, as below
        return len(UUIDS)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:  # noqa: N802
        self.questions.append("handle")
        return SimpleNamespace(index=index)

    def nvmlDeviceGetUUID(self, handle: Any) -> str:  # noqa: N802
        return UUIDS[handle.index]

    def nvmlDeviceGetUtilizationRates(self, handle: Any) -> Any:  # noqa: N802
        self._fail_if(handle.index in self.lost)
        return SimpleNamespace(gpu=(97, 0)[handle.index], memory=41)

    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Any:  # noqa: N802
        self._fail_if(handle.index in self.lost)
        return SimpleNamespace(used=(120_259_084_288, 629_145_600)[handle.index])

    def nvmlDeviceGetPowerUsage(self, handle: Any) -> int:  # noqa: N802
        self._fail_if(handle.index == 1 or handle.index in self.lost)
        return 655_120

    def _fail_if(self, condition: bool) -> None:  # noqa: FBT001
        if condition:
            raise self.NVMLError


def test_each_gpu_is_read_by_its_uuid_and_by_its_number() -> None:
    library = Recorded()
    reader = NvidiaGpus(load=lambda: library)
    busy = GpuSample(utilisation=0.97, memory_bytes=120_259_084_288, power_watts=655.12)
    idle = GpuSample(utilisation=0.0, memory_bytes=629_145_600)
    assert reader.read() == {"0": busy, "GPU-aa": busy, "1": idle, "GPU-bb": idle}
    reader.read()
    assert library.questions == ["handle", "handle"]  # they are found once
    library.lost.add(0)
    assert reader.read() == {"0": GpuSample(), "GPU-aa": GpuSample(), "1": idle, "GPU-bb": idle}


def test_where_there_is_no_library_or_driver_nothing_is_read() -> None:
    asked = []
    reader = NvidiaGpus(load=lambda: asked.append("library"))
    assert (reader.read(), reader.read(), asked) == ({}, {}, ["library"])
    if not LISTED:
        assert nvidia.load() is None


@pytest.mark.gpu
@pytest.mark.skipif(not LISTED, reason="this machine has no GPU")
def test_a_real_gpu_tells_its_use_memory_and_power() -> None:
    uses = NvidiaGpus().read()
    for gpu in LISTED:
        use = uses[gpu.uuid]
        assert use.utilisation is None or 0 <= use.utilisation <= 1
        assert use.memory_bytes is not None
        assert use.power_watts is None or use.power_watts > 0
