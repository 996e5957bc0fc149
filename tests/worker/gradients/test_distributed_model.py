"""A script written for DistributedDataParallel finds what it is used to."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta

import pytest
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel

from concertina_worker.collective.group import Group
from concertina_worker.membership.agreement import SwitchOffer
from concertina_worker.training.distributed_model import (
    CommunicationHookError,
    DistributedModel,
)
from concertina_worker.training.gradients.summing import Gradients
from tests.worker.gathering import a_plan, gather
from tests.worker.gradients.test_gradients import INPUTS, assert_gradients, loss


def a_network() -> nn.Module:
    network = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Linear(4, 3)).double()
    generator = torch.Generator().manual_seed(2)
    for parameter in network.parameters():
        parameter.data.copy_(torch.rand(parameter.shape, generator=generator))
    return network


@pytest.fixture
def theirs() -> Iterator[nn.Module]:
    """PyTorch's own wrapper, in a process group of one."""
    store = distributed.HashStore()
    distributed.init_process_group(
        "gloo", store=store, rank=0, world_size=1, timeout=timedelta(seconds=120)
    )
    yield DistributedDataParallel(a_network())
    distributed.destroy_process_group()


def test_states_go_both_ways_between_the_two_wrappers(theirs: nn.Module) -> None:
    ours = DistributedModel(a_network())
    assert [*ours.state_dict()] == [*theirs.state_dict()]
    assert [name for name, _ in ours.named_parameters()] == [
        name for name, _ in theirs.named_parameters()
    ]
    theirs.load_state_dict(ours.state_dict())
    ours.load_state_dict(theirs.state_dict())
    for wrapper in (ours, theirs):
        with pytest.raises(RuntimeError, match=r"module\.0\.weight"):
            wrapper.load_state_dict(a_network().state_dict())
        wrapper.module.load_state_dict(a_network().state_dict())
        assert not hasattr(wrapper, "in_features")
        assert wrapper.device == torch.device("cpu")
        with wrapper.no_sync(), wrapper.join():
            wrapper(INPUTS)


def test_modes_reach_the_model() -> None:
    wrapper = DistributedModel(a_network())
    wrapper.eval()
    assert not wrapper.module.training
    wrapper.train()
    assert wrapper.module.training


def test_arguments_reach_the_model_as_they_are() -> None:
    class Choosing(nn.Module):
        def forward(self, first: int, *, second: int) -> tuple[int, int]:
            return first, second

    assert DistributedModel(Choosing())(1, second=2) == (1, 2)


def test_what_no_sync_holds_back_is_exchanged_with_the_next_backward() -> None:
    def act(group: Group) -> nn.Module:
        network = a_network().eval()
        gradients = Gradients([*network.parameters()])

        @contextmanager
        def hold_back() -> Iterator[None]:
            gradients.capture.holds_back = True
            yield
            gradients.capture.holds_back = False

        wrapper = DistributedModel(network, hold_back)
        gradients.begin_step(group.start_sum, SwitchOffer)
        gradients.begin_micro_batch(weight=[6 / 11, 5 / 11][group.rank], is_last=True)
        for context in (wrapper.no_sync(), wrapper.no_sync(), nullcontext()):
            with context:
                loss(wrapper, INPUTS.chunk(2)[group.rank]).backward()
        return network

    plain = a_network().eval()
    (3 * loss(plain, INPUTS)).backward()
    for network in gather(a_plan("ab"), act).values():
        assert_gradients(network, [parameter.grad for parameter in plain.parameters()])


def test_copies_are_plain_models_that_know_nothing_of_the_job() -> None:
    def not_to_be_copied() -> nullcontext[None]:
        raise AssertionError("a copy must not reach the job")

    wrapper = DistributedModel(a_network(), not_to_be_copied)
    stream = io.BytesIO()
    torch.save(wrapper, stream)
    stream.seek(0)
    loaded = torch.load(stream, weights_only=False)
    for other in (copy.deepcopy(wrapper), AveragedModel(wrapper).module, loaded):
        assert isinstance(other, DistributedModel)
        with other.no_sync():
            assert torch.equal(other.eval()(INPUTS), a_network().eval()(INPUTS))


def test_communication_hooks_are_refused() -> None:
    with pytest.raises(CommunicationHookError, match="exchanges the gradients itself"):
        DistributedModel(a_network()).register_comm_hook(None, print)
