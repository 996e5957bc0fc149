"""Which checkpoints has a job? Those that its folder holds whole, newest first.

What they tell of themselves is read from the end of each; the service never reads what PyTorch
wrote. Of what a job made in the same folder by itself nothing is shown.
"""

from __future__ import annotations

import heapq
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from concertina_worker.checkpoint_files import (
    SHOWN_DIGEST,
    CheckpointDescription,
    CheckpointName,
    read_about,
)
from storage.errors import CheckpointUnknown, ResultUnknown, WeightsUnknown
from storage.results import opening
from storage.results.folders import Results
from storage.results.opening import OpenFile

MOST: Final = 10_000  # names that are looked at; the runtime keeps a tenth of that at most

Which = int | Literal["latest"]
"""A step, or the newest there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeCheckpoint:
    """One that is whole."""

    name: CheckpointName
    # None: of an earlier release, which told nothing and kept no weights
    about: CheckpointDescription | None
    state_bytes: int
    written_at: float  # seconds since 1970

    @property
    def step(self) -> int:
        return self.name.step

    @property
    def bytes(self) -> int:
        return self.state_bytes + (self.about.weights_bytes if self.about else 0)

    @property
    def files(self) -> tuple[str, ...]:
        """The state's name, then that of the weights."""
        if self.about is None:
            return (self.name.state,)
        return self.name.state, self.name.weights(self.about.weights_digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPage:
    """Some of a job's checkpoints; `next_cursor` None: these were the last."""

    checkpoints: tuple[WholeCheckpoint, ...]
    next_cursor: str | None


def page(
    results: Results, *, after: str, limit: int, without: Collection[str] = ()
) -> CheckpointPage:
    """Return what is older than a checkpoint, by the name of its state; empty: the newest."""
    before = CheckpointName.of(after)
    try:
        with opening.folder(results) as folder:
            names = (one for one in _names(folder, without) if before is None or one < before)
            chosen = heapq.nlargest(limit + 1, names)
            found = tuple(one for name in chosen[:limit] if (one := _look(folder, name)))
    except ResultUnknown:
        return CheckpointPage(checkpoints=(), next_cursor=None)
    more = chosen[limit - 1].state if len(chosen) > limit else None
    return CheckpointPage(checkpoints=found, next_cursor=more)


def find(results: Results, which: Which, *, without: Collection[str] = ()) -> WholeCheckpoint:
    """Raises: CheckpointUnknown."""
    wanted = (
        one for one in newest_first(results, without=without) if which in ("latest", one.step)
    )
    found = next(wanted, None)
    if found is None:
        raise CheckpointUnknown
    return found


def best(
    results: Results, metric: str, goal: str, *, without: Collection[str] = ()
) -> WholeCheckpoint:
    """Return that of which the best value was measured; of equals the newest.

    Raises:
        CheckpointUnknown: none was measured so.
    """
    found = [
        (value if goal == "min" else -value, place, one)
        for place, one in enumerate(newest_first(results, without=without))
        if one.about is not None and (value := one.about.measured(metric)) is not None
    ]
    if not found:
        raise CheckpointUnknown(f"The job has no checkpoint of which {metric} was measured.")
    return min(found, key=lambda one: one[:2])[2]


def newest_first(results: Results, *, without: Collection[str] = ()) -> Iterator[WholeCheckpoint]:
    """Yield all, each as it is looked at."""
    try:
        with opening.folder(results) as folder:
            for name in sorted(_names(folder, without), reverse=True):
                if found := _look(folder, name):
                    yield found
    except ResultUnknown:
        return


def names_with_moments(results: Results, checkpoint: WholeCheckpoint) -> tuple[str, ...]:
    """Return the names of all its files: that of optimizers' moments, too, if it is in parts.

    Raises:
        ResultUnknown: the folder is gone.
    """
    begin, end = f"{checkpoint.name.stem}.", ".moments"
    length = len(begin) + SHOWN_DIGEST + len(end)
    with opening.folder(results) as folder, os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, MOST)]
    more = (n for n in names if n.startswith(begin) and n.endswith(end) and len(n) == length)
    return (*checkpoint.files, *more)


def open_weights(results: Results, checkpoint: WholeCheckpoint) -> OpenFile:
    """Raises: WeightsUnknown, ResultUnknown."""
    if checkpoint.about is None:
        raise WeightsUnknown
    return opening.file(results, checkpoint.files[1])


def open_state(results: Results, checkpoint: WholeCheckpoint) -> OpenFile:
    """Raises: ResultUnknown."""
    return opening.file(results, checkpoint.name.state)


def _names(folder: int, without: Collection[str]) -> Iterator[CheckpointName]:
    """Yield the newest name of each step."""
    by_step: dict[int, CheckpointName] = {}
    with os.scandir(folder) as entries:
        for entry in islice(entries, MOST):
            name = CheckpointName.of(entry.name)
            if name and entry.name == name.state and entry.name not in without:
                by_step[name.step] = max(name, by_step.get(name.step, name))
    yield from by_step.values()


def _look(folder: int, name: CheckpointName) -> WholeCheckpoint | None:
    """Return what is there; None: it is not whole, or was removed meanwhile."""
    try:
        state = opening.file_in(folder, name.state)
    except ResultUnknown:
        return None
    try:
        about = read_about(state.descriptor)
    except (OSError, ValueError, RecursionError):
        return None
    finally:
        state.close()
    found = WholeCheckpoint(
        name=name, about=about, state_bytes=state.size, written_at=state.modified_at
    )
    is_whole = about is None or _size(folder, found.files[1]) == about.weights_bytes
    return found if is_whole and (about is None or about.step == name.step) else None


def _size(folder: int, name: str) -> int | None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None
