"""What stays of a completed job whose files are old? Its last checkpoint, until it is deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from storage.errors import CheckpointUnknown, ResultUnknown
from storage.results import checkpoints, holding
from storage.results.folders import ResultFolder, Results

_KEPT = ".kept"


def discard_all_but(folder: Path, discard: Callable[[Path], None]) -> None:
    """Discard a job's folder, but for its newest checkpoint; may be broken off at any moment.

    Raises:
        OSError: the disk refuses it.
    """
    own = Results(state_dir=folder.parents[1], job_id=folder.name, place=ResultFolder.CHECKPOINTS)
    kept = folder.with_name(f"{folder.name}{_KEPT}")
    try:
        newest = checkpoints.find(own, "latest")
        holding.hold(own, {name: name for name in newest.files}, kept)
    except (CheckpointUnknown, ResultUnknown):
        pass  # it has none, or it is aside already
    discard(folder)
    if kept.exists():
        folder.mkdir(exist_ok=True)  # it is there if outputs stay
        kept.rename(own.folder)
