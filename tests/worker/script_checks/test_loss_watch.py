"""A loss that sums over its samples is found by its first backward pass, and no mean is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it so

from concertina_worker.training.script_checks.loss_watch import LossWatch

Loss = Callable[["Script"], torch.Tensor]
SAMPLES = 16
REAL_BACKWARD = torch.autograd.backward


class Script:
    """What training scripts compute a loss from."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 5))
        self.network = nn.Sequential(nn.Embedding(11, 8), nn.LayerNorm(8), nn.Linear(8, 11))
        self.images, self.values = torch.rand(SAMPLES, 3), torch.rand(SAMPLES, 5)
        self.labels = torch.randint(5, (SAMPLES,))
        self.tokens = torch.randint(11, (SAMPLES, 7))
        self.mask = (torch.rand(SAMPLES, 7) < 0.4).float()
        self.advantages = torch.randn(SAMPLES)
        self.seen: dict[str, torch.Tensor] = {}

    @property
    def output(self) -> torch.Tensor:
        return self.model(self.images)

    @property
    def token_losses(self) -> torch.Tensor:
        logits = self.network(self.tokens).view(-1, 11)
        return F.cross_entropy(logits, self.tokens.view(-1), reduction="none").view(SAMPLES, 7)

    @property
    def losses(self) -> torch.Tensor:
        return F.cross_entropy(self.output, self.labels, reduction="none")

    @property
    def log_probabilities(self) -> torch.Tensor:
        return self.output.log_softmax(1)[range(SAMPLES), self.labels]

    @property
    def penalty(self) -> torch.Tensor:
        """Sums over parameters, and over their products."""
        weight = self.model[0].weight
        products = ((weight @ weight.T - torch.eye(8)) ** 2).sum()
        return sum(((p**2).sum() for p in self.model.parameters()), products)

    def divergence(self) -> torch.Tensor:
        mean, log_variance = self.output[:, :2], self.output[:, 2:4]
        return -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())


SUMS: dict[str, Loss] = {
    "cross entropy": lambda s: F.cross_entropy(s.output, s.labels, reduction="sum"),
    "smoothed labels": lambda s: F.cross_entropy(
        s.output, s.labels, reduction="sum", label_smoothing=0.1
    ),
    "squared error": lambda s: F.mse_loss(s.output, s.values, reduction="sum"),
    "absolute error": lambda s: F.l1_loss(s.output, s.values, reduction="sum"),
    "by hand": lambda s: ((s.output - s.values) ** 2).sum(),
    "by hand, a half": lambda s: 0.5 * (s.output - s.values).pow(2).sum(),
    "by hand, as a product": lambda s: ((d := s.output - s.values) * d).sum(),
    "log likelihood": lambda s: -s.log_probabilities.sum(),
    "one-hot": lambda s: -(F.one_hot(s.labels, 5) * s.output.log_softmax(1)).sum(),
    "all tokens": lambda s: s.token_losses.sum(),
    "masked tokens": lambda s: (s.token_losses * s.mask).sum(),
    "some tokens": lambda s: s.token_losses[s.mask > 0].sum(),
    "variational": lambda s: (
        F.binary_cross_entropy_with_logits(s.output, s.values, reduction="sum") + s.divergence()
    ),
    "a mean and a sum": lambda s: s.losses.mean() + s.divergence(),
    "policy gradient": lambda s: -(s.log_probabilities * s.advantages).sum(),
    "double precision": lambda s: s.losses.double().sum().float(),
}

MEANS: dict[str, Loss] = {
    "cross entropy": lambda s: F.cross_entropy(s.output, s.labels),
    "smoothed labels": lambda s: F.cross_entropy(s.output, s.labels, label_smoothing=0.1),
    "weighted classes": lambda s: F.cross_entropy(s.output, s.labels, weight=torch.rand(5)),
    "divided by the samples": lambda s: s.losses.sum() / len(s.images),
    "each divided": lambda s: (s.losses / len(s.images)).sum(),
    "times the inverse": lambda s: s.losses.sum() * (1 / len(s.images)),
    "all tokens, divided": lambda s: s.token_losses.sum() / s.tokens.numel(),
    "as transformers does": lambda s: (
        F.cross_entropy(s.network(s.tokens).view(-1, 11), s.tokens.view(-1), reduction="sum")
        / torch.tensor(s.tokens.numel())
    ),
    "masked tokens, divided": lambda s: (s.token_losses * s.mask).sum() / s.mask.sum(),
    "masked tokens, times the inverse": lambda s: (
        (s.token_losses * s.mask).sum() * (1 / s.mask.sum())
    ),
    "masked by row": lambda s: ((s.token_losses * s.mask).sum(1) / s.mask.sum(1)).mean(),
    "some tokens": lambda s: s.token_losses[s.mask > 0].mean(),
    "weights that sum to one": lambda s: (s.losses * torch.rand(SAMPLES).softmax(0)).sum(),
    "learned weights": lambda s: (s.losses * s.output[:, 0].softmax(0)).sum(),
    "weights and a count": lambda s: (s.losses * s.values[:, 0]).sum() / s.values[:, 0].sum(),
    "a dot product": lambda s: torch.dot(s.losses, torch.full((SAMPLES,), 1 / SAMPLES)),
    "sums of features": lambda s: ((s.output - s.values) ** 2).sum(1).mean(),
    "means of samples": lambda s: ((s.output - s.values) ** 2).mean(0).sum(),
    "a batch mean": lambda s: F.kl_div(
        s.output.log_softmax(1), s.values.softmax(1), reduction="batchmean"
    ),
    "several tasks": lambda s: torch.stack([s.losses.mean(), s.output.pow(2).mean()]).sum(),
    "one after the other": lambda s: sum((s.losses.mean() for _ in range(3)), s.losses.mean()),
    "a penalty on weights": lambda s: s.losses.mean() + s.penalty,
    "a small sum beside": lambda s: s.losses.mean() + 1e-3 * s.divergence(),
    "overlap": lambda s: (
        1 - 2 * (s.output.sigmoid() * s.values).sum() / (s.output.sigmoid() + s.values).sum()
    ),
}

NOT_SEEN: dict[str, Loss] = {
    "divided by something else": lambda s: s.losses.sum() / 4,
    "means of features": lambda s: F.mse_loss(s.output, s.values, reduction="none").mean(1).sum(),
    "a small factor": lambda s: 0.01 * s.losses.sum(),
}
"""Sums all the same, as the manual says: there are means that look the same."""


def warnings_of(loss: Loss, *, scale: float = 1.0) -> list[str]:
    script, said = Script(), list[str]()
    watch = LossWatch(lambda text, _: said.append(text), lambda: scale)
    watch.begin(SAMPLES)
    (loss(script) * scale if scale != 1 else loss(script)).backward()
    watch.end()
    assert torch.autograd.backward is REAL_BACKWARD
    return said


@pytest.mark.parametrize("loss", SUMS)
def test_a_sum_is_told_with_its_place(loss: str) -> None:
    (said,) = warnings_of(SUMS[loss])
    assert "is a sum over the samples" in said
    assert f"{__file__}:" in said


@pytest.mark.parametrize("loss", MEANS)
def test_a_mean_is_not_however_it_comes_about(loss: str) -> None:
    assert warnings_of(MEANS[loss]) == []


@pytest.mark.parametrize("loss", NOT_SEEN)
def test_what_may_well_be_a_mean_is_not_told(loss: str) -> None:
    assert warnings_of(NOT_SEEN[loss]) == []


@pytest.mark.parametrize("loss", ["cross entropy", "times the inverse"])
def test_a_loss_scaler_makes_no_sum_of_a_mean(loss: str) -> None:
    assert warnings_of(MEANS[loss], scale=65536.0) == []
    assert len(warnings_of(SUMS["by hand"], scale=65536.0)) == 1


def test_one_backward_pass_is_looked_at_and_gradients_are_what_they_are() -> None:
    watched, plain = Script(), Script()
    watch = LossWatch(lambda *_: None, lambda: 1.0)
    for script in (watched, plain):
        if script is watched:
            watch.begin(SAMPLES)
        loss = SUMS["variational"](script)
        nodes = loss.grad_fn
        loss.backward()
    watch.end()
    assert nodes is not None
    for one, other in zip(watched.model.parameters(), plain.model.parameters(), strict=True):
        assert torch.equal(one.grad, other.grad)
    watch.begin(SAMPLES)
    assert torch.autograd.backward is REAL_BACKWARD


def test_nobody_looks_for_ever_where_no_backward_pass_comes() -> None:
    watch = LossWatch(lambda *_: None, lambda: 1.0)
    for _ in range(10):
        watch.begin(SAMPLES)
        watch.end()
    watch.begin(SAMPLES)
    assert torch.autograd.backward is REAL_BACKWARD


def test_whoever_replaces_the_backward_pass_meanwhile_is_left_alone() -> None:
    calls = []
    watch = LossWatch(lambda *_: None, lambda: 1.0)
    watch.begin(SAMPLES)
    ours = torch.autograd.backward

    def theirs(*arguments: object, **named: object) -> None:
        calls.append(1)
        ours(*arguments, **named)  # type: ignore[arg-type] # passes on

    torch.autograd.backward = theirs
    try:
        for _ in range(2):
            MEANS["cross entropy"](Script()).backward()
            watch.end()
            watch.begin(SAMPLES)
        assert torch.autograd.backward is theirs
    finally:
        torch.autograd.backward = REAL_BACKWARD
    assert len(calls) == 2


def test_a_single_sample_is_its_own_mean() -> None:
    watch = LossWatch(lambda *_: None, lambda: 1.0)
    watch.begin(1)
    assert torch.autograd.backward is REAL_BACKWARD
