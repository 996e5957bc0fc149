"""Where are checkpoints that are held, and how do they come there? One folder each.

The folder is called by the number of its row. What it holds is called as a job that starts from it
looks for it: see `concertina_worker.checkpoint_files.START_WEIGHTS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from concertina_worker.checkpoint_files import START_STATE, START_WEIGHTS
from storage.errors import ResultUnknown, WeightsUnknown
from storage.models import HeldCheckpoint
from storage.results import holding
from storage.results.checkpoints import WholeCheckpoint
from storage.results.folders import Folder, ResultFolder, Results

WEIGHTS: Final = START_WEIGHTS
PARENT: Final = ".held"  # beside the folders of jobs, none of which is called so


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldFolder:
    """The folder of one of them."""

    state_dir: Path
    number: int

    @property
    def jobs_dir(self) -> Path:
        return self.state_dir / "jobs"

    @property
    def parts(self) -> tuple[str, str]:
        return PARENT, str(self.number)

    @property
    def folder(self) -> Path:
        return self.jobs_dir.joinpath(*self.parts)


def names_of(checkpoint: WholeCheckpoint, *, with_state: bool) -> dict[str, str]:
    """Return what its files are called once they are held, by their names.

    Raises:
        WeightsUnknown: an earlier release wrote it.
    """
    if checkpoint.about is None:
        raise WeightsUnknown
    state, weights = checkpoint.files
    return {weights: START_WEIGHTS, **({state: START_STATE} if with_state else {})}


def names_of_held(*, with_state: bool) -> dict[str, str]:
    """Return the same for a checkpoint that is held already."""
    names = (START_WEIGHTS, START_STATE) if with_state else (START_WEIGHTS,)
    return {name: name for name in names}


def make(held: HeldCheckpoint, state_dir: Path) -> Path:
    """Make its folder, if it is not there, and before that of the one it is of.

    Only the control loop does.

    Raises:
        ResultUnknown: the checkpoint is gone.
        OSError: the disk refuses it.
    """
    folder = HeldFolder(state_dir=state_dir, number=held.pk).folder
    if not folder.exists():
        holding.hold(_source_of(held, state_dir), held.names, folder)
    return folder


def _source_of(held: HeldCheckpoint, state_dir: Path) -> Folder:
    """Raises: ResultUnknown, OSError."""
    if held.source_held is None:
        return Results(state_dir=state_dir, job_id=held.source_job, place=ResultFolder.CHECKPOINTS)
    source = HeldCheckpoint.objects.filter(pk=held.source_held).first()
    if source is None:
        raise ResultUnknown
    make(source, state_dir)
    return HeldFolder(state_dir=state_dir, number=source.pk)
