"""Where a worker computes; what needs a GPU is in `test_gpus`."""

from __future__ import annotations

import logging

import pytest
import torch

from concertina_worker.device import chosen

without_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")


@without_gpu
@pytest.mark.parametrize("gpu_type", [None, chosen.SLOT])
def test_without_a_gpu_a_worker_computes_on_the_cpu(
    gpu_type: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    assert chosen.choose(gpu_type) == torch.device("cpu")
    assert caplog.text == ""


@without_gpu
def test_a_worker_that_cannot_use_its_gpu_says_why(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert chosen.choose("nvidia-h100").type == "cpu"
    assert "cannot use the nvidia-h100" in caplog.text
    assert "CUDA" in caplog.text


def test_the_cpu_is_no_gpu_that_others_could_share() -> None:
    assert chosen.identity(chosen.CPU) == ""
