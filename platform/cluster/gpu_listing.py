"""Which GPUs does `nvidia-smi -L` list? On this machine, or in a container on another."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LONGEST_KIND = 40  # what a pool's `gpu_type` holds

_GPU = re.compile(r"^GPU (?P<index>\d+): (?P<name>.+) \(UUID: (?P<uuid>GPU-[^)]+)\)")
_PART = re.compile(r"^\s+MIG (?P<profile>\S+)\s+Device\s+\d+: \(UUID: (?P<uuid>MIG-[^)]+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU, or a part of one that is divided (MIG)."""

    index: int  # as NVML counts; a part has that of its GPU
    name: str
    uuid: str

    @property
    def kind(self) -> str:
        """Its name as a word: `nvidia-h100-80gb-hbm3`."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")[:_LONGEST_KIND].strip("-")


def parse(listing: str) -> tuple[Gpu, ...]:
    """Read what `nvidia-smi -L` prints; of a divided GPU its parts count."""
    found: list[list[Gpu]] = []  # a GPU, then its parts
    for line in listing.splitlines():
        if gpu := _GPU.match(line):
            found.append([Gpu(index=int(gpu["index"]), name=gpu["name"], uuid=gpu["uuid"])])
        elif (part := _PART.match(line)) and found:
            whole = found[-1][0]
            name = f"{whole.name} {part['profile']}"
            found[-1].append(Gpu(index=whole.index, name=name, uuid=part["uuid"]))
    return tuple(gpu for family in found for gpu in family[1:] or family)


def visible(gpus: tuple[Gpu, ...], names: str | None) -> tuple[Gpu, ...]:
    """Those that CUDA_VISIBLE_DEVICES names, in its order; None: it hides none."""
    if names is None:
        return gpus
    by_name = {name: gpu for gpu in gpus for name in (gpu.uuid, str(gpu.index))}
    return tuple(by_name[name] for name in names.split(",") if name in by_name)
