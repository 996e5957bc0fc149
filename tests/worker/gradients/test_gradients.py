"""The gradient of the global mean loss, however the batch is split; and the agreement with it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from concertina_worker.collective.group import Group
from concertina_worker.membership.agreement import AgreedSums, SwitchOffer
from concertina_worker.training.gradients import layout
from concertina_worker.training.gradients.capture import SecondBackwardError
from concertina_worker.training.gradients.summing import Gradients
from tests.worker.gathering import a_plan, gather

INPUTS = torch.rand(11, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def a_model(dtype: torch.dtype = torch.float64) -> nn.Module:
    """The same on every thread: the global random numbers are shared between them."""
    generator = torch.Generator().manual_seed(5)
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)).to(dtype)
    for parameter in model.parameters():
        parameter.data.copy_(torch.rand(parameter.shape, generator=generator) - 0.5)
    model.register_parameter("unused", nn.Parameter(torch.ones(2, dtype=dtype)))
    return model


def loss(model: nn.Module, rows: torch.Tensor) -> torch.Tensor:
    value: torch.Tensor = model(rows).square().sum(1).mean()
    return value


def expected() -> list[torch.Tensor | None]:
    model = a_model()
    loss(model, INPUTS).backward()
    return [parameter.grad for parameter in model.parameters()]


def assert_gradients(model: nn.Module, expected: list[torch.Tensor | None]) -> None:
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        assert (parameter.grad is None) == (gradient is None)
        if gradient is not None:
            torch.testing.assert_close(parameter.grad, gradient, rtol=1e-14, atol=1e-14)


def compute(group: Group, shares: list[list[int]], offer: int = 0) -> tuple[nn.Module, AgreedSums]:
    """One worker's step: micro-batches of these sizes, the rest is the others'."""
    model = a_model()
    gradients = Gradients([*model.parameters()])
    gradients.begin_step(group.start_sum, lambda: SwitchOffer(offer))
    start = sum(sum(sizes) for sizes in shares[: group.rank])
    sizes = shares[group.rank]
    for number, size in enumerate(sizes):
        gradients.begin_micro_batch(weight=size / len(INPUTS), is_last=number == len(sizes) - 1)
        loss(model, INPUTS[start : start + size]).backward()
        start += size
    gradients.finish()
    assert not gradients.has_failed
    return model, gradients.sums.tally


@pytest.mark.parametrize("bucket_bytes", [1, 100, 10**6])
@pytest.mark.parametrize(
    "shares", [[[11]], [[4, 3, 4]], [[6], [5]], [[4], [2, 2], [3]], [[11], []], [[1], [1], [9]]]
)
def test_any_split_gives_the_gradient_of_the_whole_batch(
    shares: list[list[int]], bucket_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "BUCKET_BYTES", bucket_bytes)
    workers = "abc"[: len(shares)]
    results = gather(a_plan(workers), lambda group: compute(group, shares))
    for model, _ in results.values():
        assert_gradients(model, expected())


def test_the_gradient_is_complete_when_backward_returns() -> None:
    model = a_model()
    gradients = Gradients([*model.parameters()])
    gradients.begin_step(lambda _: None, SwitchOffer)
    gradients.begin_micro_batch(weight=1.0, is_last=True)
    loss(model, INPUTS).backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1e9)
    whole = torch.cat([gradient.flatten() for gradient in expected() if gradient is not None])
    assert norm == pytest.approx(float(whole.norm()))


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_second_backward_in_a_step_is_refused(is_alone: bool) -> None:  # noqa: FBT001
    model = a_model()
    gradients = Gradients([*model.parameters()])
    gradients.begin_step(lambda _: None, SwitchOffer, is_alone=is_alone)
    gradients.begin_micro_batch(weight=1.0, is_last=True)
    loss(model, INPUTS).backward()
    with pytest.raises(SecondBackwardError, match="Add the losses"):
        loss(model, INPUTS).backward()


def test_a_failed_exchange_is_noted_not_raised() -> None:
    model = a_model()
    gradients = Gradients([*model.parameters()])

    def break_down(_: torch.Tensor) -> None:
        raise RuntimeError("a peer is gone")

    gradients.begin_step(break_down, SwitchOffer)
    gradients.begin_micro_batch(weight=1.0, is_last=True)
    loss(model, INPUTS).backward()
    gradients.finish()
    assert gradients.has_failed


@pytest.mark.parametrize(
    ("offers", "is_unanimous"), [((2, 2, 2), True), ((2, 2, 0), False), ((1, 2, 3), False)]
)
def test_members_read_the_same_decision(offers: tuple[int, ...], is_unanimous: bool) -> None:  # noqa: FBT001
    results = gather(
        a_plan("abc"), lambda group: compute(group, [[4], [4], [3]], offers[group.rank])
    )
    assert {tally.is_unanimous(3) for _, tally in results.values()} == {is_unanimous}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_gradients_carry_an_exact_agreement(dtype: torch.dtype) -> None:
    def act(group: Group) -> AgreedSums:
        gradients = Gradients([nn.Parameter(torch.ones(3, dtype=dtype))])
        gradients.begin_step(group.start_sum, lambda: SwitchOffer(300))
        gradients.finish()
        return gradients.sums.tally

    for tally in gather(a_plan("abc"), act).values():
        assert tally.is_unanimous(3)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=50))
def test_only_equal_offers_are_unanimous(offers: list[int]) -> None:
    squares = float(sum(offer**2 for offer in offers))
    tally = AgreedSums(deltas=float(sum(offers)), squares=squares, arrived=0.0)
    assert tally.is_unanimous(len(offers)) == (len(set(offers)) == 1 and offers[0] > 0)
