"""Where a worker computes; what needs a GPU is in `test_gpus`."""

from __future__ import annotations

import logging
import random
from collections import OrderedDict, deque

import numpy as np
import pytest
import torch
from torch import nn

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


def test_a_copy_on_the_host_keeps_types_and_shares_no_object_of_the_script() -> None:
    original = {
        "array": np.zeros(2),
        "recent": deque([torch.ones(1)], maxlen=3),
        "ordered": OrderedDict(a=1),
        "model": nn.BatchNorm1d(2).state_dict(),
    }
    copy = copied(original)
    original["array"][0] = 1.0
    original["recent"][0].add_(1)
    original["recent"].append(torch.ones(1))
    assert copy["array"].tolist() == [0.0, 0.0]
    assert copy["recent"] == deque([torch.ones(1)])
    assert copy["recent"].maxlen == 3
    assert type(copy["ordered"]) is OrderedDict
    assert copy["model"]._metadata == original["model"]._metadata  # noqa: SLF001 - torch reads it


def test_random_numbers_go_on_from_where_they_were_taken() -> None:
    state = random_state.take()
    first = three_random_numbers()
    random_state.restore(state)
    assert three_random_numbers() == first


def three_random_numbers() -> tuple[float, ...]:
    of_numpy = float(np.random.rand())  # noqa: NPY002 - the generator that scripts share
    return torch.rand(1).item(), random.random(), of_numpy  # noqa: S311 - no secret


def test_the_state_of_more_gpus_than_there_are_is_restored_as_far_as_they_go() -> None:
    state = random_state.take()
    random_state.restore({**state, "cuda": [*state["cuda"], torch.zeros(16, dtype=torch.uint8)]})


def test_beside_training_on_a_cpu_nothing_waits() -> None:
    values = torch.zeros(2)
    with SideStream([values]).in_use():
        values.add_(1)
    assert values.tolist() == [1.0, 1.0]
