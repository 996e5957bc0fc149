"""Which folder of a job's holds its results, and what may a path in it look like?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from storage.errors import ResultUnknown

LONGEST_PATH: Final = 1000  # characters
DEEPEST: Final = 50  # folders below each other


class ResultFolder(StrEnum):
    """The folders of a job's that people read; each bears this name."""

    OUTPUTS = "outputs"  # what the job wants to hand over
    CHECKPOINTS = "checkpoints"


class Folder(Protocol):
    """A folder that the service looks into, whoever may have changed it."""

    @property
    def jobs_dir(self) -> Path:
        """Return the folder from which on no link is followed; the service's own."""

    @property
    def parts(self) -> tuple[str, str]:
        """Return where it is below that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """One such folder of one job."""

    state_dir: Path
    job_id: str
    place: ResultFolder

    @property
    def jobs_dir(self) -> Path:
        """Return the folder below which jobs have theirs; none but the service puts any there."""
        return self.state_dir / "jobs"

    @property
    def parts(self) -> tuple[str, str]:
        return self.job_id, str(self.place)

    @property
    def folder(self) -> Path:
        return self.jobs_dir.joinpath(*self.parts)


def parts_of(path: str) -> tuple[str, ...]:
    """Split a path below a folder of results; none for that folder itself.

    Raises:
        ResultUnknown: there can be nothing of that name.
    """
    if not path:
        return ()
    parts = tuple(path.split("/"))
    is_strange = any(part in {"", ".", ".."} for part in parts) or "\0" in path
    if is_strange or len(path) > LONGEST_PATH or len(parts) > DEEPEST:
        raise ResultUnknown
    return parts
