"""A transformer of which each worker holds a part, as it is trained without Concertina.

`torchrun --nproc-per-node 2 plain_sharded_transformer.py`. `sharded_transformer.py` is the same,
on workers that come and go.
"""

from __future__ import annotations

import argparse
import sysconfig
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn import functional as F  # noqa: N812 - everybody calls it so
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

LETTERS = 128


class Transformer(nn.Module):
    """Which letter comes next?"""

    def __init__(self, width: int, layers: int, length: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(LETTERS, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
            for _ in range(layers)
        )
        self.next_letter = nn.Linear(width, LETTERS)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        length = letters.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        hidden = self.letters(letters) + self.places(torch.arange(length))
        for block in self.blocks:
            hidden = block(hidden, src_mask=mask, is_causal=True)
        logits: torch.Tensor = self.next_letter(hidden)
        return logits


def stretches_of(length: int, count: int) -> TensorDataset:
    """So many stretches of source files of the standard library."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    content = b"".join(path.read_bytes() for path in sorted(folder.glob("a*.py")))
    text = torch.frombuffer(bytearray(content), dtype=torch.uint8).clamp(max=LETTERS - 1).long()
    return TensorDataset(text[: count * (length + 1)].view(count, length + 1))


def shard(model: Any, mesh: DeviceMesh) -> None:
    """Let each worker hold its rows of every parameter; a block at a time is put together."""
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--stretches", type=int, default=4000)
    parser.add_argument("--length", type=int, default=64, help="letters of each")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    data = stretches_of(arguments.length, arguments.stretches)
    sampler = DistributedSampler(data)
    share = arguments.batch_size // dist.get_world_size()
    loader = DataLoader(data, batch_size=share, sampler=sampler)
    model = Transformer(arguments.width, arguments.layers, arguments.length)
    shard(model, init_device_mesh("cpu", (dist.get_world_size(),)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.001)
    for epoch in range(arguments.epochs):
        sampler.set_epoch(epoch)
        for (stretches,) in loader:
            logits = model(stretches[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), stretches[:, 1:].flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        if dist.get_rank() == 0:
            print(f"epoch {epoch + 1} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
