"""Which of several pytest processes runs which tests, and in which order?

A process asks for the next file when it is nearly done with its last. What takes longest comes
first, so that all processes end at about the same time. A file stays whole because its tests
share fixtures, and so do the end-to-end tests of a folder, which share a stack.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Final

import pytest
from xdist.scheduler import LoadScopeScheduling

# Folders whose files take longest, the longest first; their order else stays as random as it is.
LONGEST_FIRST: Final = (
    "on_processes",
    "in_production",
    "worker",
    "in_containers",
    "reproduction",
    "contract",
    "local_stack",
    "simulation",
    "control_loop",
    "fuzz",
)


class Files(LoadScopeScheduling):
    """Deals out whole files in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        file = PurePath(nodeid.partition("::")[0])
        return str(file.parent if "end_to_end" in file.parts else file)


def longest_first(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The tests of each file stay together, and the files of a folder in their order."""
    ranks = {name: rank for rank, name in enumerate(LONGEST_FIRST)}
    return sorted(items, key=lambda item: ranks.get(item.path.parent.name, len(ranks)))
