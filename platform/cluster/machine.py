"""What is a node's machine like, and which part of it may one worker have?

A worker's share of the machine's memory is that of its GPUs, and a cap: as GPUs are given out once
only, what is promised on a node never adds up to more than the node has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_RESERVED_PART: Final = 0.1  # guessed: for the system, coordinators and the platform itself,
_MOST_RESERVED: Final = 16 << 30  # of which a large machine has no more than a middling one
_LEAST_SHARE: Final = 1 << 30  # where slots outnumber the memory: PyTorch alone takes a third of it


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeMachine:
    """A node's machine, as its daemon describes it."""

    memory_bytes: int
    cpus: int
    complaints: tuple[str, ...] = ()  # for admins: what is too old there, and why that matters


def share_of(total: int, share: float) -> int:
    """Return this share in bytes of what is left without the reserve; enough to train in.

    Whole mebibytes, so that people can be told the number.
    """
    reserved = min(total * _RESERVED_PART, _MOST_RESERVED)
    return min(max(int((total - reserved) * share), _LEAST_SHARE), total) >> 20 << 20
