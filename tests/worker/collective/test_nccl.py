"""How exchanges between GPUs end, well or badly. Gloo stands in for NCCL: see also `test_gpus`."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import torch
from torch.distributed import HashStore  # type: ignore[attr-defined] # its stubs forget it
from torch.distributed.distributed_c10d import ProcessGroupGloo

from concertina_worker.collective.gpu_offer import GpuOffer, is_possible
from concertina_worker.collective.group import Group
from concertina_worker.collective.nccl import NcclExchange
from concertina_worker.collective.wires import Wires
from tests.worker.gathering import a_plan, gather
from tests.worker.running_job import SCRIPT, RunningJob
from tests.worker.whole_jobs.test_rescaling import assert_same_parameters


class SpinningGroup:
    """What a communicator is like that waits for a lost member: kernels end only by abort."""

    def __init__(self, *, answers: int) -> None:
        """It answers this many times before the member is lost."""
        self.answers = answers
        self.was_aborted = threading.Event()
        self.is_waited_for = threading.Event()

    def allreduce(self, _tensors: list[torch.Tensor]) -> SpinningGroup:
        self.answers -= 1
        return self

    def is_completed(self) -> bool:
        is_completed = self.answers >= 0 or self.was_aborted.is_set()
        if not is_completed:
            self.is_waited_for.set()
        return is_completed

    def wait(self) -> None:
        assert self.is_completed()

    def abort(self) -> None:
        self.was_aborted.set()


class RefusingGroup(SpinningGroup):
    """What a communicator is like that cannot come about."""

    def allreduce(self, _tensors: list[torch.Tensor]) -> SpinningGroup:
        raise RuntimeError("Duplicate GPU detected")


def an_offer() -> GpuOffer:
    offer = GpuOffer()
    offer.name = "GPU-aa"  # though this build of PyTorch may not know NCCL
    return offer


def an_exchange(
    group: Any, wires: Wires, offer: GpuOffer | None = None, *, seconds: float = 120.0
) -> NcclExchange:
    return NcclExchange(group, wires, offer or an_offer(), timeout_seconds=seconds)


def cut_when_waited_for(group: SpinningGroup, wires: Wires) -> None:
    def cut() -> None:
        assert group.is_waited_for.wait(90)
        wires.cut()

    threading.Thread(target=cut).start()


def test_all_members_get_the_sum() -> None:
    store, sums = HashStore(), [torch.full((3,), 1.0), torch.full((3,), 10.0)]

    def member(rank: int) -> None:
        group = ProcessGroupGloo(store, rank, 2, timedelta(seconds=120))
        exchange = an_exchange(group, Wires())
        works = [exchange.start_sum(part) for part in sums[rank].split(2)]
        for work in works:
            work.wait()

    other = threading.Thread(target=member, args=(1,))
    other.start()
    member(0)
    other.join()
    assert [part.tolist() for part in sums] == [[11.0] * 3] * 2


@pytest.mark.parametrize("answers", [0, 1])
def test_who_waits_for_a_lost_member_gets_out_when_the_wires_are_cut(answers: int) -> None:
    """While connecting, and in an exchange."""
    group, wires = SpinningGroup(answers=answers), Wires()
    exchange = an_exchange(group, wires)
    cut_when_waited_for(group, wires)
    with pytest.raises(RuntimeError, match="given up"):
        exchange.start_sum(torch.ones(1)).wait()
    assert group.was_aborted.wait(90)


def test_a_sum_that_an_abort_has_ended_does_not_count() -> None:
    group, wires = SpinningGroup(answers=1), Wires()
    work = an_exchange(group, wires).start_sum(torch.ones(1))
    wires.cut()
    assert group.is_completed()
    with pytest.raises(RuntimeError, match="given up"):
        work.wait()


def test_an_exchange_that_takes_too_long_is_given_up() -> None:
    exchange = an_exchange(SpinningGroup(answers=1), Wires(), seconds=0.05)
    with pytest.raises(RuntimeError, match="no sum came about"):
        exchange.start_sum(torch.ones(1)).wait()


def test_a_member_on_which_nccl_does_not_work_offers_it_no_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    offer = an_offer()
    exchange = an_exchange(RefusingGroup(answers=0), Wires(), offer)
    with pytest.raises(RuntimeError, match="Duplicate GPU"):
        exchange.start_sum(torch.ones(1))
    assert offer.name == ""
    assert "Duplicate GPU" in caplog.text


def lose_before_the_first_sum(offer: GpuOffer, *, answers: int) -> None:
    """A generation; no answer: while connecting; one: in the first exchange."""
    group, wires = SpinningGroup(answers=answers), Wires()
    exchange = an_exchange(group, wires, offer)
    cut_when_waited_for(group, wires)
    with pytest.raises(RuntimeError, match="given up"):
        exchange.start_sum(torch.ones(1)).wait()


@pytest.mark.parametrize("answers", [0, 1], ids=["connecting", "in the first exchange"])
def test_a_loss_says_nothing_against_nccl_but_two_generations_without_a_sum_do(
    caplog: pytest.LogCaptureFixture, answers: int
) -> None:
    """Where it hangs, the coordinator gives one generation after the other up."""
    offer = an_offer()
    lose_before_the_first_sum(offer, answers=answers)
    assert offer.name == "GPU-aa"
    lose_before_the_first_sum(offer, answers=answers)
    assert offer.name == ""
    assert "2 generations in a row" in caplog.text


def test_a_sum_between_two_losses_proves_that_nccl_works() -> None:
    offer = an_offer()
    lose_before_the_first_sum(offer, answers=0)
    an_exchange(SpinningGroup(answers=2), Wires(), offer).start_sum(torch.ones(1)).wait()
    lose_before_the_first_sum(offer, answers=0)
    assert offer.name == "GPU-aa"


def test_a_communicator_that_nobody_refers_to_is_aborted() -> None:
    group = SpinningGroup(answers=5)
    exchange = an_exchange(group, Wires())
    exchange.start_sum(torch.ones(1)).wait()
    del exchange
    gc.collect()
    assert group.was_aborted.is_set()


def test_an_exchange_whose_wires_were_cut_before_is_over_at_once() -> None:
    group, wires = SpinningGroup(answers=5), Wires()
    wires.cut()
    exchange = an_exchange(group, wires)
    assert group.was_aborted.is_set()
    with pytest.raises(RuntimeError, match="given up"):
        exchange.start_sum(torch.ones(1))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["GPU-aa", "GPU-bb"], True),
        (["GPU-aa", "GPU-aa"], False),
        (["GPU-aa", ""], False),
    ],
    ids=["each its own", "one shared", "one on the CPU"],
)
def test_nccl_needs_a_gpu_of_its_own_for_each_member(names: list[str], *, expected: bool) -> None:
    assert is_possible(names) is expected


class StandInOffer(GpuOffer):
    """Gloo, where a worker with a GPU would have NCCL."""

    device_type = "cpu"

    def __init__(self, name: str, *, works: bool = True) -> None:
        super().__init__()
        self.name = name
        self.works = works

    def build(self, store: Any, place: tuple[int, int]) -> Any:
        if not self.works:
            return RefusingGroup(answers=0)
        return LazyGloo(store, place)


class LazyGloo:
    """Connects when it is first used, as NCCL does."""

    def __init__(self, store: Any, place: tuple[int, int]) -> None:
        self._connect = lambda: ProcessGroupGloo(store, *place, timedelta(seconds=120))
        self._group: Any = None

    def allreduce(self, tensors: list[torch.Tensor]) -> Any:
        self._group = self._group or self._connect()
        return self._group.allreduce(tensors)

    def abort(self) -> None:
        self._group = None


def add_up(group: Group) -> tuple[bool, float]:
    """Whether it was through NCCL, and the sum of ones."""
    ones = torch.ones(1)
    group.start_sum(ones).wait()
    group.part()
    return group.nccl is not None, ones.item()


def test_members_with_a_gpu_each_exchange_between_gpus() -> None:
    gpus = {worker: StandInOffer(f"GPU-{worker}") for worker in "abc"}
    assert set(gather(a_plan("abc"), add_up, gpus=gpus).values()) == {(True, 3.0)}


def test_members_that_share_a_gpu_exchange_through_gloo() -> None:
    gpus = dict.fromkeys("abc", StandInOffer("GPU-aa"))
    assert set(gather(a_plan("abc"), add_up, gpus=gpus).values()) == {(False, 3.0)}


def test_a_member_without_a_gpu_has_all_exchange_through_gloo() -> None:
    gpus = {"a": StandInOffer("GPU-aa"), "b": StandInOffer("")}
    assert set(gather(a_plan("ab"), add_up, gpus=gpus).values()) == {(False, 2.0)}


def test_where_nccl_works_for_one_member_only_all_use_gloo_from_the_next_group_on() -> None:
    gpus = {"a": StandInOffer("GPU-aa"), "b": StandInOffer("GPU-bb", works=False)}
    met, groups = threading.Barrier(2), []

    def fail(group: Group) -> None:
        groups.append(group)
        met.wait()
        with pytest.raises(RuntimeError):
            add_up(group)
        for other in groups:
            other.wires.cut()  # as the coordinator has it done

    gather(a_plan("ab"), fail, gpus=gpus)
    assert set(gather(a_plan("ab"), add_up, gpus=gpus).values()) == {(False, 2.0)}


def between_gpus(make_job: Callable[..., RunningJob], *arguments: str, how: str) -> RunningJob:
    job = make_job(*arguments, environment={"CONCERTINA_STAND_IN": how})
    job.script = SCRIPT.with_name("regression_between_gpus.py")
    return job


@pytest.mark.parametrize("how", ["works", "refuses"])
def test_a_job_grows_and_loses_a_worker_between_gpus_as_it_does_on_cpus(
    make_job: Callable[..., RunningJob], undisturbed: Callable[..., dict[str, Any]], how: str
) -> None:
    """Where nobody is told of a loss but by the coordinator, and where NCCL does not work."""
    job = between_gpus(make_job, "--adam", how=how)
    job.begin_attempt(1)
    job.wait_for_workers(1)
    job.resize(3)
    job.wait_for_workers(3)
    job.wait_for_steps(4)
    job.kill("w2")
    job.wait_for_steps(6)
    job.end()
    result = job.result("w1")
    job.assert_every_sample_once(epochs=result["epochs"])
    assert_same_parameters(result, undisturbed(result["epochs"], "--adam"), 1e-9)
    assert ("use_gloo" in job.logs()) is (how == "refuses")
