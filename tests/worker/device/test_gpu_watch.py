"""What a worker tells of its GPUs; what the driver answers is in `test_gpus`."""

from __future__ import annotations

import logging
import shutil
from typing import Any

import pytest

from concertina_worker.device.gauge import GaugeInMemory, GpuReading
from concertina_worker.device.gpu_watch import GpuWatch, use_of, watch
from concertina_worker.wire import FromWorker

GIB = 2**30
BUSY = GpuReading(utilisation=0.9, memory_bytes=10 * GIB, memory_total_bytes=80 * GIB)
IDLE = GpuReading(utilisation=0.1, memory_bytes=2 * GIB, memory_total_bytes=80 * GIB)


def test_a_workers_gpus_are_told_as_one() -> None:
    assert use_of([BUSY, IDLE]) == {
        "gpu_utilisation": pytest.approx(0.5),
        "gpu_memory_bytes": 12 * GIB,
        "gpu_memory_total_bytes": 160 * GIB,
    }


def test_what_a_gpu_does_not_tell_is_left_out() -> None:
    part_of_a_gpu = GpuReading(memory_bytes=GIB, memory_total_bytes=10 * GIB)
    assert use_of([part_of_a_gpu]) == {
        "gpu_memory_bytes": GIB,
        "gpu_memory_total_bytes": 10 * GIB,
    }


def test_a_reading_of_nothing_is_told_as_nothing_used() -> None:
    assert use_of([GpuReading(utilisation=0.0)]) == {"gpu_utilisation": 0.0}


def test_the_newest_reading_is_told_and_silence_is_not() -> None:
    told: list[Any] = []
    gauge = GaugeInMemory({"GPU-a": BUSY})
    gpu_watch = GpuWatch(gauge, ["GPU-a"], lambda kind, use: told.append((kind, use)))
    assert gpu_watch.run_once()
    gauge.readings["GPU-a"] = IDLE
    assert gpu_watch.run_once()
    gauge.readings.clear()  # it fell off the bus
    assert not gpu_watch.run_once()
    assert [kind for kind, _ in told] == [FromWorker.GPU, FromWorker.GPU]
    assert [use["gpu_utilisation"] for _, use in told] == [0.9, 0.1]


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="this machine has a driver")
def test_without_a_driver_a_worker_says_so_and_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        watch(["0"], lambda *_, **__: None)
    assert "cannot be measured" in caplog.text


def test_a_worker_without_gpus_watches_none(caplog: pytest.LogCaptureFixture) -> None:
    watch([], lambda *_, **__: None)
    assert caplog.text == ""
