"""Which of several pytest processes runs which tests, and in which order?

A process asks for the next file when it is nearly done with its last. What takes longest comes
first, so that all processes end at about the same time. A file stays whole because its tests
share fixtures, and so do the end-to-end tests of a folder, which share a stack, those that share a
Ray cluster, and those that look at the source as parsed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Final

import pytest
from xdist.scheduler import LoadScopeScheduling

TESTS: Final = Path(__file__).parent
# Folders whose files take longest, the longest first; their order else stays as random as it is.
LONGEST_FIRST: Final = (
    "end_to_end/on_processes",
    "end_to_end/in_production",
    "worker",
    "end_to_end/on_ray",
    "end_to_end/in_containers",
    "control_loop/real_hosts",
    "local_stack",
    "architecture",
    "contract",
    "simulation",
    "control_loop",
    "fuzz",
)
SHARE_A_RAY_CLUSTER: Final = frozenset({"ray_host", "test_worker_host.py"})


class Files(LoadScopeScheduling):
    """Deals out whole files in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        file = PurePath(nodeid.partition("::")[0])
        if not SHARE_A_RAY_CLUSTER.isdisjoint(file.parts):
            return "ray"
        if "architecture" in file.parts:
            return "architecture"
        if "end_to_end" in file.parts:
            return str(PurePath(*file.parts[: file.parts.index("end_to_end") + 2]))
        return str(file)


def longest_first(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The tests of each file stay together, and the files of a folder in their order."""
    return sorted(items, key=lambda item: _rank(item.path.parent))


@functools.cache
def _rank(folder: Path) -> int:
    within = (TESTS / name for name in LONGEST_FIRST)
    ranks = (rank for rank, slow in enumerate(within) if folder.is_relative_to(slow))
    return next(ranks, len(LONGEST_FIRST))
