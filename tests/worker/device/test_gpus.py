"""What only a machine with NVIDIA GPUs can show: `pytest -m gpu`. One is enough for most of it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from local_stack import gpus
from torch.distributed import HashStore  # type: ignore[attr-defined] # its stubs forget it

from concertina_worker.collective.gpu_offer import GpuOffer
from concertina_worker.collective.nccl import NcclExchange
from concertina_worker.collective.wires import Wires
from concertina_worker.device import chosen, random_state
from concertina_worker.device.gpu_watch import use_of
from concertina_worker.device.host_copy import copied
from concertina_worker.device.nvml import Nvml
from concertina_worker.device.side_stream import SideStream
from concertina_worker.protocol import Env, GpuExchange
from tests.worker.gathering import a_plan, gather
from tests.worker.running_job import RunningJob
from tests.worker.whole_jobs.test_rescaling import assert_same_parameters
from tests.worker.worker_zygote import python_path

UUIDS = tuple(gpu.uuid for gpu in gpus.find())
HAS_GPU = bool(UUIDS) and torch.cuda.is_available()
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not HAS_GPU, reason="this machine has no GPU that PyTorch can use"),
]
NCCL_NEEDS_TWO = pytest.mark.skipif(len(UUIDS) < 2, reason="NCCL refuses two workers on one GPU")
EXCHANGES = [GpuExchange.GLOO, pytest.param(GpuExchange.NCCL, marks=NCCL_NEEDS_TWO)]
NOT_INITIALISED = 3  # CUDA_ERROR_NOT_INITIALIZED of the driver's interface
TOLERANCE = 1e-9  # float64; a GPU adds up in another order than the CPU it is compared with

MakeJob = Callable[..., RunningJob]
Undisturbed = Callable[..., dict[str, Any]]


def on_gpus(make_job: MakeJob, exchange: GpuExchange, *arguments: str, **settings: Any) -> Any:
    environment = {Env.GPU_EXCHANGE: exchange, Env.GPU_TYPE: "nvidia"}
    return make_job(*arguments, gpus=UUIDS, environment=environment, **settings)


def assert_exchanged_as_told(job: RunningJob) -> None:
    assert "use_gloo" not in job.logs()
    assert "use_cpu" not in job.logs()


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_workers_on_gpus_grow_and_shrink_and_train_like_one_on_a_cpu(
    make_job: MakeJob, undisturbed: Undisturbed, exchange: GpuExchange
) -> None:
    """The workers are forks of one process: it must not have touched a GPU."""
    job = on_gpus(make_job, exchange, "--adam")
    job.begin_attempt(1)
    wanted = iter([2, 1, 2])
    job.play(lambda _: next(wanted, None))
    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"], "--adam"), TOLERANCE)
    assert_exchanged_as_told(job)


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_a_killed_worker_on_a_gpu_costs_no_step_and_no_sample(
    make_job: MakeJob, undisturbed: Undisturbed, exchange: GpuExchange
) -> None:
    job = on_gpus(make_job, exchange)
    job.begin_attempt(2)
    job.wait_for_workers(2)
    job.wait_for_steps(4)
    job.kill("w2")
    job.wait_for_steps(4)
    job.resize(2)
    job.wait_for_workers(2)
    job.wait_for_steps(4)
    job.end()
    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"]), TOLERANCE)
    assert_exchanged_as_told(job)


def test_a_job_on_gpus_resumes_from_its_checkpoint(
    make_job: MakeJob, undisturbed: Undisturbed
) -> None:
    job = on_gpus(make_job, GpuExchange.NCCL, "--adam", checkpoint_seconds=0.05)
    job.begin_attempt(1)
    job.wait("a checkpoint is there", job.checkpoints)
    job.kill("w1")
    job.begin_attempt(1)
    job.wait_for_steps(4)
    job.end()
    result = job.result("w2")
    assert_same_parameters(result, undisturbed(result["epochs"], "--adam"), TOLERANCE)


def test_the_use_of_a_gpu_reaches_the_service(make_job: MakeJob) -> None:
    job = on_gpus(make_job, GpuExchange.NCCL)
    job.begin_attempt(1)

    def use() -> Any:
        report = job.service.newest
        return report and report["workers"] and report["workers"][0].get("gpu_memory_bytes")

    assert job.wait("a reading arrives", use) > 0
    job.end()


def test_what_a_zygote_imports_leaves_the_driver_alone() -> None:
    """Or its forks could not use a GPU: the driver still wants to be initialised."""
    program = (
        "import ctypes, sys, concertina_worker.imports\n"
        "sys.exit(ctypes.CDLL('libcuda.so.1').cuDeviceGetCount(ctypes.byref(ctypes.c_int())))\n"
    )
    environment = {**os.environ, "PYTHONPATH": python_path()}
    ran = subprocess.run((sys.executable, "-c", program), env=environment, check=False)
    assert ran.returncode == NOT_INITIALISED


def test_nvml_reads_the_gpu_by_number_and_by_uuid() -> None:
    for name in ("0", UUIDS[0]):
        reading = Nvml().read(name)
        assert reading.memory_bytes is not None
        assert reading.memory_total_bytes is not None
        assert 0 < reading.memory_bytes <= reading.memory_total_bytes
    assert use_of([Nvml().read("GPU-of-another-machine")]) == {}


def test_a_worker_computes_on_the_first_gpu_it_sees() -> None:
    device = chosen.choose("nvidia")
    assert device == torch.device("cuda", 0)
    assert any(uuid.endswith(chosen.identity(device)) for uuid in UUIDS)


def test_a_copy_of_what_is_on_a_gpu_lies_in_pinned_memory() -> None:
    weights = torch.rand(1000, 1000, device="cuda")
    copy = copied({"weights": weights})["weights"]
    before = weights.cpu()
    weights.zero_()
    assert copy.is_pinned()
    assert torch.equal(copy, before)


def test_random_numbers_of_a_gpu_go_on_from_where_they_were_taken() -> None:
    torch.zeros(1, device="cuda")
    state = random_state.take()
    first = torch.rand(3, device="cuda")
    random_state.restore(state)
    assert torch.equal(torch.rand(3, device="cuda"), first)


def test_beside_training_a_thread_sees_what_training_had_computed() -> None:
    values = torch.zeros(1 << 22, device="cuda")
    values.add_(1)
    side = SideStream([values])
    sums = []

    def read() -> None:
        with side.in_use():
            sums.append(values.sum().item())

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert sums == [float(1 << 22)]


def test_gloo_adds_up_and_copies_what_is_on_gpus() -> None:
    sums = gather(a_plan("abc"), lambda group: group.sum(torch.ones(5, device="cuda")).tolist())
    assert list(sums.values()) == [[3.0] * 5] * 3


def test_nccl_with_one_member_connects_adds_up_and_ends() -> None:
    """All of it that one GPU can show."""
    wires = Wires()
    (exchange,) = _exchanges([wires])
    tensor = torch.full((5,), 7.0, device="cuda:0")
    exchange.start_sum(tensor).wait()
    assert tensor.tolist() == [7.0] * 5
    wires.cut()
    with pytest.raises(RuntimeError):
        exchange.start_sum(tensor).wait()
    torch.cuda.synchronize(0)


@NCCL_NEEDS_TWO
def test_nccl_adds_up_and_gives_up_when_the_wires_are_cut() -> None:
    """Two members in one process, each with a GPU; then one of them does not come."""
    wires = [Wires(), Wires()]
    exchanges = _exchanges(wires)
    tensors = [torch.full((5,), 10.0**rank, device=f"cuda:{rank}") for rank in range(2)]

    def add_up(rank: int) -> None:
        with torch.cuda.device(rank):
            exchanges[rank].start_sum(tensors[rank]).wait()

    other = threading.Thread(target=add_up, args=(1,))
    other.start()
    add_up(0)
    other.join()
    assert [tensor.tolist() for tensor in tensors] == [[11.0] * 5] * 2

    alone = exchanges[0].start_sum(tensors[0])
    threading.Thread(target=wires[0].cut).start()
    with pytest.raises(RuntimeError, match="given up"):
        alone.wait()
    torch.cuda.synchronize(0)  # the kernel has ended
    wires[1].cut()


def _exchanges(wires: list[Wires]) -> list[NcclExchange]:
    """Of so many members, each with a GPU of its own."""
    store = HashStore()
    offers = [GpuOffer(UUIDS[rank]) for rank in range(len(wires))]
    return [
        NcclExchange(
            offer.build(store, (rank, len(wires))),
            wires[rank],
            offer,
            timeout_seconds=30.0,
        )
        for rank, offer in enumerate(offers)
    ]
