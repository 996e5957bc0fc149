"""Steps of several backward passes, and parameters that some steps or workers have no use for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from concertina_worker.collective.group import Group
from concertina_worker.membership.agreement import SwitchOffer
from concertina_worker.training.gradients.blocks import StepBlockError, held_back, several_passes
from concertina_worker.training.gradients.capture import SecondBackwardError
from concertina_worker.training.gradients.layout import SparseGradientError
from concertina_worker.training.gradients.summing import Gradients
from tests.worker.gathering import a_plan, gather
from tests.worker.gradients.test_gradients import INPUTS, a_model, assert_gradients, expected, loss

Backwards = Callable[[nn.Module, torch.Tensor], None]


def two_losses(model: nn.Module, rows: torch.Tensor) -> None:
    outputs = model(rows)
    outputs.square().mean().backward(retain_graph=True)
    outputs.abs().mean().backward()


def gradient_penalty(model: nn.Module, rows: torch.Tensor) -> None:
    rows = rows.clone().requires_grad_()
    value = loss(model, rows)
    (slope,) = torch.autograd.grad(value, rows, create_graph=True)
    (slope.square().sum(1).mean() * len(rows) ** 2).backward(retain_graph=True)
    value.backward()


def second_order(model: nn.Module, rows: torch.Tensor) -> None:
    loss(model, rows).backward(create_graph=True)
    loss(model, rows).backward()


def gradients_after(model: nn.Module, backwards: Backwards) -> list[torch.Tensor | None]:
    backwards(model, INPUTS)
    return [parameter.grad for parameter in model.parameters()]


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True:UserWarning")
@pytest.mark.parametrize("backwards", [two_losses, gradient_penalty, second_order])
@pytest.mark.parametrize("shares", [[[11]], [[4, 3, 4]], [[6], [3, 2]]])
def test_several_backwards_add_up_to_the_gradient_of_the_whole_batch(
    backwards: Backwards, shares: list[list[int]]
) -> None:
    def act(group: Group) -> nn.Module:
        model = a_model()
        gradients = Gradients([*model.parameters()])
        gradients.begin_step(group.start_sum, SwitchOffer, is_alone=group.size == 1)
        start = sum(sum(sizes) for sizes in shares[: group.rank])
        sizes = shares[group.rank]
        for number, size in enumerate(sizes):
            is_last = number == len(sizes) - 1
            gradients.begin_micro_batch(weight=size / len(INPUTS), is_last=is_last)
            gradients.capture.open()
            backwards(model, INPUTS[start : start + size])
            gradients.capture.close()
            start += size
        return model

    whole = gradients_after(a_model(), backwards)
    for model in gather(a_plan("abc"[: len(shares)]), act).values():
        assert_gradients(model, whole)


def test_all_but_the_last_of_several_backwards_can_be_held_back() -> None:
    def act(group: Group) -> nn.Module:
        model = a_model()
        gradients = Gradients([*model.parameters()])
        gradients.begin_step(group.start_sum, SwitchOffer)
        gradients.begin_micro_batch(weight=[6 / 11, 5 / 11][group.rank], is_last=True)
        rows = INPUTS.chunk(2)[group.rank]
        gradients.capture.holds_back = True
        loss(model, rows).backward()
        gradients.capture.holds_back = False
        (2 * loss(model, rows)).backward()
        return model

    whole = [None if gradient is None else 3 * gradient for gradient in expected()]
    for model in gather(a_plan("ab"), act).values():
        assert_gradients(model, whole)


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_backward_after_the_exchange_of_a_block_is_refused(is_alone: bool) -> None:  # noqa: FBT001
    model = a_model()
    gradients = Gradients([*model.parameters()])
    gradients.begin_step(lambda _: None, SwitchOffer, is_alone=is_alone)
    gradients.begin_micro_batch(weight=1.0, is_last=True)
    gradients.capture.open()
    loss(model, INPUTS).backward()
    gradients.capture.close()
    with pytest.raises(SecondBackwardError):
        loss(model, INPUTS).backward()


def test_a_second_backward_is_refused_in_the_first_micro_batch_too() -> None:
    model = a_model()
    gradients = Gradients([*model.parameters()])
    gradients.begin_step(lambda _: None, SwitchOffer)
    gradients.begin_micro_batch(weight=0.5, is_last=False)
    loss(model, INPUTS).backward()
    with pytest.raises(SecondBackwardError, match=r"job\.step"):
        loss(model, INPUTS).backward()


def test_outside_of_steps_gradients_are_the_scripts_own() -> None:
    model = a_model()
    Gradients([*model.parameters()])
    loss(model, INPUTS).backward()
    assert_gradients(model, expected())


def test_a_parameter_that_one_worker_has_no_use_for_gets_the_gradient_of_the_others() -> None:
    def act(group: Group) -> torch.Tensor | None:
        model = a_model()
        gradients = Gradients([*model.parameters()])
        gradients.begin_step(group.start_sum, SwitchOffer)
        gradients.begin_micro_batch(weight=0.5, is_last=True)
        unused = model.get_parameter("unused")
        value = loss(model, INPUTS) + (unused.sum() if group.rank else 0.0)
        value.backward()
        return unused.grad

    for gradient in gather(a_plan("ab"), act).values():
        assert gradient is not None
        assert gradient.tolist() == [0.5, 0.5]


def test_a_parameter_is_trained_from_the_step_after_which_all_workers_have_unfrozen_it() -> None:
    def act(group: Group) -> list[bool]:
        model = a_model()
        bias = model.get_parameter("0.bias")
        bias.requires_grad_(False)
        gradients = Gradients([*model.parameters()])
        has_gradient = []
        for step in range(4):
            if step == group.rank + 1:
                bias.requires_grad_(True)
            gradients.capture.train(
                gradients.capture.trainable if step == 0 else gradients.trained_next
            )
            gradients.begin_step(group.start_sum, SwitchOffer)
            gradients.begin_micro_batch(weight=0.5, is_last=True)
            loss(model, INPUTS).backward()
            assert not gradients.has_failed
            has_gradient.append(bias.grad is not None)
        return has_gradient

    for has_gradient in gather(a_plan("ab"), act).values():
        assert has_gradient == [False, False, False, True]


def test_a_parameter_that_is_frozen_later_has_no_gradient_then() -> None:
    model = a_model()
    gradients = Gradients([*model.parameters()])
    bias = model.get_parameter("0.bias")
    for is_frozen in (False, True, False):
        bias.requires_grad_(not is_frozen)
        gradients.begin_step(lambda _: None, SwitchOffer)
        gradients.begin_micro_batch(weight=0.5, is_last=True)
        loss(model, INPUTS).backward()
        assert (bias.grad is None) == is_frozen


def test_a_rehearsed_micro_batch_adds_nothing_not_even_what_is_no_number() -> None:
    def act(group: Group) -> nn.Module:
        model = a_model()
        gradients = Gradients([*model.parameters()])
        gradients.begin_step(group.start_sum, SwitchOffer)
        gradients.begin_micro_batch(weight=[1.0, 0.0][group.rank], is_last=True)
        loss(model, INPUTS * [1.0, float("nan")][group.rank]).backward()
        return model

    for model in gather(a_plan("ab"), act).values():
        assert_gradients(model, expected())


def test_a_shared_parameter_has_one_gradient() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(5, 5, dtype=torch.float64)
            self.second = nn.Linear(5, 5, dtype=torch.float64)
            self.second.weight = self.first.weight

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.second(torch.tanh(self.first(rows)))
            return result

    plain, ours = Tied(), Tied()
    ours.load_state_dict(plain.state_dict())
    loss(plain, INPUTS).backward()
    gradients = Gradients([*ours.parameters()])
    gradients.begin_step(lambda _: None, SwitchOffer)
    for number in range(2):
        gradients.begin_micro_batch(weight=0.5, is_last=number == 1)
        loss(ours, INPUTS).backward()
    assert_gradients(ours, [parameter.grad for parameter in plain.parameters()])


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_sparse_gradient_is_refused(is_alone: bool) -> None:  # noqa: FBT001
    table = nn.Embedding(9, 3, sparse=True)
    gradients = Gradients([*table.parameters()])
    gradients.begin_step(lambda _: None, SwitchOffer, is_alone=is_alone)
    gradients.begin_micro_batch(weight=1.0, is_last=True)
    with pytest.raises(SparseGradientError, match="sparse=False"):
        table(torch.tensor([1, 2])).sum().backward()


def test_complex_gradients_are_summed() -> None:
    def act(group: Group) -> torch.Tensor | None:
        factor = nn.Parameter(torch.ones(3, dtype=torch.complex128))
        gradients = Gradients([factor])
        gradients.begin_step(group.start_sum, SwitchOffer)
        gradients.begin_micro_batch(weight=0.5, is_last=True)
        (factor * (1 + 2j * group.rank)).abs().square().mean().backward()
        assert not gradients.has_failed
        return factor.grad

    factor = torch.ones(3, dtype=torch.complex128, requires_grad=True)
    (factor.abs().square().mean() * (1 + 5) / 2).backward()
    for gradient in gather(a_plan("ab"), act).values():
        torch.testing.assert_close(gradient, factor.grad)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_gradients_are_summed_beside_wide_ones(dtype: torch.dtype) -> None:
    def act(group: Group) -> list[torch.Tensor | None]:
        narrow = nn.Parameter(torch.ones(3, dtype=dtype))
        wide = nn.Parameter(torch.ones(3))
        gradients = Gradients([narrow, wide])
        gradients.begin_step(group.start_sum, SwitchOffer)
        gradients.begin_micro_batch(weight=0.5, is_last=True)
        ((narrow.float() + wide) * (1 + 2 * group.rank)).sum().backward()
        return [narrow.grad, wide.grad]

    for found in gather(a_plan("ab"), act).values():
        for gradient, kind in zip(found, (dtype, torch.float32), strict=True):
            torch.testing.assert_close(gradient, torch.full((3,), 2.0, dtype=kind))


def test_gradients_lie_in_memory_as_their_parameters_do() -> None:
    layer = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    gradients = Gradients([*layer.parameters()])
    gradients.begin_step(lambda _: None, SwitchOffer)
    gradients.begin_micro_batch(weight=0.5, is_last=True)
    layer(torch.rand(2, 3, 5, 5)).sum().backward()
    assert layer.weight.grad is not None
    assert layer.weight.grad.stride() == layer.weight.stride()


@pytest.mark.parametrize("is_scaled", [False, True])
def test_squared_norms_are_those_of_the_micro_batches_and_of_their_sum(is_scaled: bool) -> None:  # noqa: FBT001
    shares = [[4, 3], [3, 1]]
    scale = 8.0 if is_scaled else 1.0

    def act(group: Group) -> tuple[float, int, float]:
        model = a_model()
        gradients = Gradients([*model.parameters()])
        gradients.begin_step(group.start_sum, SwitchOffer, measures_norms=True)
        start = sum(sum(sizes) for sizes in shares[: group.rank])
        for number, size in enumerate(shares[group.rank]):
            gradients.begin_micro_batch(weight=size / len(INPUTS), is_last=number == 1)
            (scale * loss(model, INPUTS[start : start + size])).backward()
            start += size
        norms = gradients.squared_norms
        assert norms is not None
        return norms.of_parts, norms.parts, norms.of_sum

    def squared(rows: torch.Tensor) -> float:
        model = a_model()
        (scale * loss(model, rows)).backward()
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        return sum(float(gradient.square().sum()) for gradient in grads)

    parts = INPUTS.split([4, 3, 3, 1])
    of_parts = sum(len(rows) / len(INPUTS) * squared(rows) for rows in parts)
    for found in gather(a_plan("ab"), act).values():
        assert found == pytest.approx((of_parts, 4, squared(INPUTS)), rel=1e-12)


def test_squared_norms_are_those_before_clipping() -> None:
    model = a_model()
    gradients = Gradients([*model.parameters()])
    gradients.begin_step(lambda _: None, SwitchOffer, measures_norms=True)
    gradients.begin_micro_batch(weight=1.0, is_last=True)
    loss(model, INPUTS).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
    norms = gradients.squared_norms
    assert norms is not None
    assert norms.of_sum == pytest.approx(norms.of_parts)


@pytest.mark.parametrize("is_alone", [True, False])
def test_others_see_the_complete_gradient_before_the_script_does(is_alone: bool) -> None:  # noqa: FBT001
    model, whole = a_model(), expected()
    seen: list[bool] = []

    def look() -> None:
        assert_gradients(model, whole)
        seen.append(is_alone)

    gradients = Gradients([*model.parameters()], look)
    gradients.begin_step(lambda _: None, SwitchOffer, is_alone=is_alone)
    gradients.begin_micro_batch(weight=1.0, is_last=True)
    loss(model, INPUTS).backward()
    gradients.finish()
    assert seen == [is_alone]


def test_norms_of_passes_that_were_held_back_are_not_taken_for_those_of_micro_batches() -> None:
    model = a_model()
    gradients = Gradients([*model.parameters()])
    gradients.begin_step(lambda _: None, SwitchOffer, measures_norms=True)
    for number in range(2):
        gradients.begin_micro_batch(weight=0.5, is_last=number == 1)
        with held_back(gradients.capture):
            loss(model, INPUTS).backward()
        loss(model, INPUTS).backward()
    assert gradients.squared_norms is not None
    assert not gradients.squared_norms.are_usable


def test_squared_norms_are_not_measured_unasked() -> None:
    model = a_model()
    gradients = Gradients([*model.parameters()])
    gradients.begin_step(lambda _: None, SwitchOffer)
    gradients.begin_micro_batch(weight=1.0, is_last=True)
    loss(model, INPUTS).backward()
    assert gradients.squared_norms is None


def test_a_worker_alone_leaves_gradients_where_autograd_put_them() -> None:
    model = a_model()
    gradients = Gradients([*model.parameters()])
    gradients.begin_step(lambda _: None, lambda: SwitchOffer(3), is_alone=True)
    gradients.begin_micro_batch(weight=1.0, is_last=True)
    loss(model, INPUTS).backward()
    assert gradients.sums.tally.is_unanimous(1)
    for parameter, gradient in zip(model.parameters(), expected(), strict=True):
        assert (parameter.grad is None) == (gradient is None)
        assert gradient is None or torch.equal(parameter.grad, gradient)  # type: ignore[arg-type]


def test_a_block_inside_a_block_is_refused_and_one_outside_of_steps_does_nothing() -> None:
    model = a_model()
    gradients = Gradients([*model.parameters()])
    with several_passes(gradients.capture):
        loss(model, INPUTS).backward()
    assert_gradients(model, expected())
    gradients.begin_step(lambda _: None, SwitchOffer)
    gradients.begin_micro_batch(weight=1.0, is_last=True)
    with (
        several_passes(gradients.capture),
        pytest.raises(StepBlockError),
        several_passes(gradients.capture),
    ):
        pass


def test_what_a_block_that_failed_has_computed_is_thrown_away() -> None:
    model = a_model()
    gradients = Gradients([*model.parameters()])
    gradients.begin_step(lambda _: None, SwitchOffer)
    gradients.begin_micro_batch(weight=1.0, is_last=True)

    def fail() -> None:
        with several_passes(gradients.capture):
            loss(model, INPUTS).backward()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with several_passes(gradients.capture):
        loss(model, INPUTS).backward()
    assert_gradients(model, expected())
