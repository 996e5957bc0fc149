"""How much may a job write on this installation?

Everything counts that its processes keep in the folders that the platform gives them, over all
workers and nodes: checkpoints, outputs, the folder they start in, scratch space of those that run.
Logs have bounds of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_GIB: Final = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskLimits:
    """The limits of each job. All are guesses, for admins to correct; a change counts at once."""

    usual_bytes: int = 50 * _GIB  # of a job that asks for nothing
    most_bytes: int = 500 * _GIB  # that a job may ask for
    most_files: int = 2_000_000  # folders count; a file system has only so many

    def bytes_of(self, wanted: int | None) -> int:
        """Return the limit of a job that asked for so much, perhaps while more was allowed."""
        return min(self.usual_bytes if wanted is None else wanted, self.most_bytes)
