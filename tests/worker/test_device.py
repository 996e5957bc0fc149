"""Where a worker computes; what needs a GPU is in `test_gpus`."""

from __future__ import annotations

import logging
import random

import pytest
import torch

from concertina_worker.device import chosen, random_state
from concertina_worker.device.host_copy import copied
from concertina_worker.device.side_stream import SideStream

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


def test_a_copy_on_the_host_shares_nothing_with_the_original() -> None:
    original = {"weights": [torch.ones(2), (torch.zeros(1), 3)], "name": "w"}
    copy = copied(original)
    original["weights"][0].add_(1)  # type: ignore[union-attr]
    assert copy["weights"][0].tolist() == [1.0, 1.0]
    assert copy["weights"][1][1] == 3
    assert copy["name"] == "w"


def test_random_numbers_go_on_from_where_they_were_taken() -> None:
    state = random_state.take()
    first = (torch.rand(3).tolist(), random.random())  # noqa: S311 - no secret
    random_state.restore(state)
    assert (torch.rand(3).tolist(), random.random()) == first  # noqa: S311 - no secret


def test_the_state_of_more_gpus_than_there_are_is_restored_as_far_as_they_go() -> None:
    state = random_state.take()
    random_state.restore({**state, "cuda": [*state["cuda"], torch.zeros(16, dtype=torch.uint8)]})


def test_beside_training_on_a_cpu_nothing_waits() -> None:
    values = torch.zeros(2)
    with SideStream([values]).in_use():
        values.add_(1)
    assert values.tolist() == [1.0, 1.0]
