"""A small language model, trained by steps: as such scripts are usually written, on one GPU.

No epochs: each sample is a stretch from a random place of one long text, the learning rate follows
from the number of the step, and now and then a held-out part is looked at.
"""

from __future__ import annotations

import argparse
import math
import sysconfig
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it so

LETTERS = 128


class Letters(nn.Module):
    """Which letter comes next?"""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(LETTERS, width)
        self.memory = nn.GRU(width, width, batch_first=True)
        self.next_letter = nn.Linear(width, LETTERS)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.next_letter(self.memory(self.letters(letters))[0])
        return logits


def read_text() -> torch.Tensor:
    """One long text: source files of the standard library."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    content = b"".join(path.read_bytes() for path in sorted(folder.glob("a*.py")))
    return torch.frombuffer(bytearray(content), dtype=torch.uint8).clamp(max=LETTERS - 1)


def crop(text: torch.Tensor, length: int) -> torch.Tensor:
    start = int(torch.randint(len(text) - length, ()))
    return text[start : start + length + 1].long()


def loss_of(model: nn.Module, stretches: torch.Tensor) -> torch.Tensor:
    logits = model(stretches[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), stretches[:, 1:].flatten())


@torch.no_grad()
def held_out_loss(model: nn.Module, text: torch.Tensor, length: int) -> float:
    return loss_of(model, torch.stack([crop(text, length) for _ in range(32)])).item()


def rate_at(step: int, *, steps: int, highest: float, warm_up: int) -> float:
    """A linear warm-up, then half a cosine down to a tenth."""
    if step < warm_up:
        return highest * (step + 1) / warm_up
    part = (step - warm_up) / max(steps - warm_up, 1)
    return highest * (0.1 + 0.45 * (1 + math.cos(math.pi * part)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--length", type=int, default=64, help="letters per sample")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--learning-rate", type=float, default=0.003)
    parser.add_argument("--evaluate-every", type=int, default=100)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    text, length = read_text(), arguments.length
    training, held_out = text[: len(text) * 9 // 10], text[len(text) * 9 // 10 :]
    model = Letters(arguments.width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=arguments.learning_rate)
    for step in range(arguments.steps):
        stretches = torch.stack([crop(training, length) for _ in range(arguments.batch_size)])
        for group in optimizer.param_groups:
            group["lr"] = rate_at(
                step, steps=arguments.steps, highest=arguments.learning_rate, warm_up=20
            )
        loss = loss_of(model, stretches)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if (step + 1) % arguments.evaluate_every == 0:
            unseen = held_out_loss(model, held_out, length)
            print(f"step {step + 1} loss {loss.item():.3f} held out {unseen:.3f}", flush=True)


if __name__ == "__main__":
    main()
