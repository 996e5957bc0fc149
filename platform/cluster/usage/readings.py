"""What does each process of a node take at one moment, and how busy are the node's GPUs?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

SAMPLE_SECONDS: Final = 10  # between two looks at a node


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessUse:
    """A process with all that it started."""

    cpu_seconds: float  # of processor time since it began
    memory_bytes: int  # what several of its processes share may count for each


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuSample:
    """One GPU, whoever uses it. None: it does not tell, as parts of a divided GPU (MIG) may not."""

    utilisation: float | None = None  # 0 to 1: part of the last moment in which a kernel ran
    memory_bytes: int | None = None
    power_watts: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReading:
    """One look at a node."""

    at_seconds: float  # on a clock that never goes back: only differences mean something
    processes: Mapping[str, ProcessUse] = field(default_factory=dict)  # by process id
    gpus: Mapping[str, GpuSample] = field(default_factory=dict)  # by UUID, and by number


class NodeGauge(Protocol):
    """Who reads nodes, without any help of what runs there. Answers may take seconds."""

    def read(self, node: str) -> NodeReading:
        """Read all workers that run there, and all GPUs that can be read.

        Raises:
            WorkerHostError: the node does not answer, or nobody knows it.
        """
