"""What is trained? A small model of few tensors and a large one of many, on random numbers."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.data import TensorDataset

BATCH = {"small": 64, "large": 12}  # samples of a step, over all workers
SAMPLES = 6400
LEARNING_RATE = 1e-4
_WIDTH = 416
_LAYERS = 18
_TOKENS = 6


def build(name: str) -> nn.Module:
    """`small`: 2.1 million parameters in 6 tensors; `large`: 25 million in 216."""
    torch.manual_seed(1)
    if name == "small":
        layers = [nn.Linear(256, 1280), nn.ReLU(), nn.Linear(1280, 1280), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(1280, 64))
    layer = nn.TransformerEncoderLayer(
        _WIDTH, nhead=8, dim_feedforward=2 * _WIDTH, dropout=0.0, batch_first=True
    )
    return nn.TransformerEncoder(layer, _LAYERS, enable_nested_tensor=False)


def data(name: str) -> TensorDataset:
    generator = torch.Generator().manual_seed(2)
    shapes = {"small": ((256,), (64,)), "large": ((_TOKENS, _WIDTH), (_TOKENS, _WIDTH))}[name]
    samples = SAMPLES if name == "small" else SAMPLES // 10
    return TensorDataset(*(torch.rand(samples, *shape, generator=generator) for shape in shapes))
