"""A small transformer learns to write Python, letter by letter, from the standard library.

The lines that make the script elastic are marked with `elastic`. It also runs alone:
`python stdlib_transformer.py`. Losses are in nats per character; guessing costs 4.6.
"""

from __future__ import annotations

import argparse
import sysconfig
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - everybody calls it so
from torch.utils.data import Dataset

import concertina_worker as elastic

LETTERS = 97  # printable ASCII, the new line, and one for everything else
_NEW_LINE, _OTHER = 95, 96


class Text(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Stretches of a text; what is to be predicted is the next letter at each place."""

    def __init__(self, letters: torch.Tensor, length: int, count: int) -> None:
        self._letters = letters
        self._length = length
        self._count = count
        self._stride = (len(letters) - length - 1) // count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        if not 0 <= index < self._count:
            raise IndexError(index)
        start = index * self._stride
        stretch = self._letters[start : start + self._length + 1].long()
        return stretch[:-1], stretch[1:]


class Transformer(nn.Module):
    """Looks back at all letters so far."""

    def __init__(self, *, width: int, layers: int, length: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(LETTERS, width)
        self.places = nn.Parameter(torch.randn(length, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.next_letter = nn.Linear(width, LETTERS)
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        length = letters.shape[1]
        mask = self.get_buffer("mask")[:length, :length]
        hidden = self.letters(letters) + self.places[:length]
        logits: torch.Tensor = self.next_letter(
            self.norm(self.layers(hidden, mask, is_causal=True))
        )
        return logits


def read_library(characters: int) -> torch.Tensor:
    """Source files of the standard library, in the order of their names."""
    content = bytearray()
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        content += path.read_bytes()
        if len(content) >= characters:
            break
    codes = torch.frombuffer(content, dtype=torch.uint8)[:characters].to(torch.int16) - 32
    codes[codes == ord("\n") - 32] = _NEW_LINE
    codes[(codes < 0) | (codes > _NEW_LINE)] = _OTHER
    return codes.to(torch.uint8)


def loss_of(model: nn.Module, letters: torch.Tensor, following: torch.Tensor) -> torch.Tensor:
    device = next(model.parameters()).device
    logits = model(letters.to(device)).flatten(0, 1)
    return F.cross_entropy(logits, following.to(device).flatten())


@torch.no_grad()
def held_out_loss(model: nn.Module, data: Text, part: int, parts: int) -> float:
    """Over every `parts`-th stretch of the held-out text, from number `part` on."""
    stretches = [data[index] for index in range(part, len(data), parts)]
    letters, following = (torch.stack(tensors) for tensors in zip(*stretches, strict=True))
    return loss_of(model, letters, following).item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--stretches", type=int, default=4000, help="samples per epoch")
    parser.add_argument("--length", type=int, default=128, help="letters per sample")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32, help="when run alone")
    parser.add_argument("--learning-rate", type=float, default=0.003)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(1)

    library = read_library(1_000_000)
    border = len(library) * 9 // 10
    training = Text(library[:border], arguments.length, arguments.stretches)
    held_out = Text(library[border:], arguments.length, 64)
    job = elastic.init()  # elastic
    model = Transformer(width=arguments.width, layers=arguments.layers, length=arguments.length)
    model.to(job.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.learning_rate)
    letters, following = (tensor.unsqueeze(0) for tensor in training[0])
    job.register(  # elastic
        model, optimizer, warm_up=lambda: loss_of(model, letters, following).backward()
    )
    for epoch in job.epochs(arguments.epochs):  # elastic
        for letters, following in job.batches(training, arguments.batch_size):  # elastic
            loss = loss_of(model, letters, following)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            job.log(loss=loss.item())
        unseen = job.mean(held_out_loss(model, held_out, job.rank, job.world_size))
        job.log(held_out_loss=unseen)
        if job.is_main:
            print(
                f"epoch {epoch + 1}/{arguments.epochs} loss {loss.item():.3f} "
                f"held out {unseen:.3f} workers {job.world_size}",
                flush=True,
            )


if __name__ == "__main__":
    main()
