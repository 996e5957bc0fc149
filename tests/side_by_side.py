"""Which of several pytest processes runs which tests, and in which order?

A process asks for the next file when it is nearly done with its last. What takes longest comes
first, so that all processes end at about the same time. A file stays whole because its tests
share fixtures, and so do all end-to-end tests, which share one stack, or one whose jobs run in
containers.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Final

import pytest
from xdist.scheduler import LoadScopeScheduling

# Folders whose files take longest, the longest first; their order else stays as random as it is.
LONGEST_FIRST: Final = ("end_to_end", "worker", "contract", "local_stack", "simulation")

IN_CONTAINERS: Final = frozenset(
    {
        "test_compose.py",
        "test_docker_faults.py",
        "test_isolation.py",
        "test_reverse_proxy.py",
    }
)


class Files(LoadScopeScheduling):
    """Deals out whole files in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        file = PurePath(nodeid.partition("::")[0])
        if file.parent.name != "end_to_end":
            return str(file)
        return str(file.parent / "in containers" if file.name in IN_CONTAINERS else file.parent)


def longest_first(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The tests of each file stay together, and the files of a folder in their order."""
    ranks = {name: rank for rank, name in enumerate(LONGEST_FIRST)}
    return sorted(items, key=lambda item: ranks.get(item.path.parent.name, len(ranks)))
