"""How is a checkpoint written by many, of a model of which none has all? Each puts in its own rows.

It is a checkpoint like any other: its weights are one file for everybody, and its state is there
last of all. What optimizers remember by rows is a third file. All members write into the same
files, each where its rows belong; the main worker waits until all are through, then gives the files
their names. So the folder has to be one that all workers see.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from concertina_worker.checkpoint_files import CheckpointDescription, CheckpointName
from concertina_worker.environment import CheckpointRules
from concertina_worker.state.checkpoints import checkpoint, keeping
from concertina_worker.state.checkpoints.row_file import RowFile
from concertina_worker.state.checkpoints.written_file import BrokenCheckpointError, sync_folder
from concertina_worker.state.parts import HeldParts, HeldRows, KeptRows
from concertina_worker.state.training_state import CheckpointMismatchError

OTHERS_SECONDS: Final = 300.0  # guessed: for the slowest disk, once the main worker's part is there
_LOOK_SECONDS: Final = 0.02
_CHUNK_BYTES: Final = 2**20

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartWriter:
    """One worker's part of one checkpoint."""

    rules: CheckpointRules
    description: CheckpointDescription
    generation: int  # of the workers that write it
    rank: int
    size: int

    def write(self, held: HeldParts, rest: dict[str, Any], is_lost: Callable[[], bool]) -> bool:
        """Write it; returns whether all of the checkpoint is there, which the main worker knows.

        `is_lost`: whether there is nobody to wait for any more.

        Raises:
            OSError: it cannot be written. Nothing of it is left, or a full disk would stay full.
        """
        folder = self.rules.folder
        folder.mkdir(parents=True, exist_ok=True)
        weights, moments = self._file("weights", held.weights), self._file("more", held.optimizers)
        is_there = False
        try:
            weights.write(held.weights)
            moments.write(held.optimizers)
            self._mark(self.rank).touch()
            if self.rank == 0 and self._await_others(is_lost):
                self._name_them(weights, moments, {**rest, "small": held.small})
                is_there = True
        except OSError:
            self._give_up(weights, moments)
            raise
        if self.rank == 0 and not is_there:
            self._give_up(weights, moments)
        return is_there

    def _give_up(self, weights: RowFile, moments: RowFile) -> None:
        """Remove what is of no use without all parts, and let the main worker wait no longer."""
        marks = [*map(self._mark, range(self.size)), self._failure] if self.rank == 0 else []
        for path in (weights.path, moments.path, *marks):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        if self.rank != 0:
            with contextlib.suppress(OSError):
                self._failure.touch()

    @property
    def _name(self) -> CheckpointName:
        rules = self.rules
        return CheckpointName(step=self.description.step, start=rules.start, epoch=rules.epoch)

    def _file(self, kind: str, held: list[HeldRows]) -> RowFile:
        path = self.rules.folder / f".{self._name.stem}.of-{self.generation}.{kind}.tmp"
        about = {"format": "pt", "step": str(self.description.step)}
        return RowFile.for_writing(path, held, about)

    @property
    def _failure(self) -> Path:
        """Tell that somebody cannot write a part."""
        return self.rules.folder / f".{self._name.stem}.of-{self.generation}.failed.tmp"

    def _mark(self, rank: int) -> Path:
        return self.rules.folder / f".{self._name.stem}.of-{self.generation}.part-{rank}.tmp"

    def _await_others(self, is_lost: Callable[[], bool]) -> bool:
        marks = [self._mark(rank) for rank in range(self.size)]
        give_up_at = time.monotonic() + OTHERS_SECONDS
        while not all(mark.exists() for mark in marks):
            if self._failure.exists() or is_lost() or time.monotonic() > give_up_at:
                _log.warning(
                    "The checkpoint of step %d was given up: not all workers wrote their parts"
                    " action=go_on",
                    self.description.step,
                )
                return False
            time.sleep(_LOOK_SECONDS)
        for mark in marks:
            mark.unlink(missing_ok=True)
        return True

    def _name_them(self, weights: RowFile, moments: RowFile, content: dict[str, Any]) -> None:
        folder, rules = self.rules.folder, self.rules
        of_moments = digest_of(moments.path)
        description = replace(
            self.description,
            weights_bytes=weights.path.stat().st_size,
            weights_digest=digest_of(weights.path),
        )
        named = [
            weights.path.replace(folder / self._name.weights(description.weights_digest)),
            moments.path.replace(folder / self._name.moments(of_moments)),
        ]
        try:
            state = checkpoint.write_state(
                folder, self._name, {**content, "moments": of_moments}, description
            )
        except BaseException:
            if not (folder / self._name.state).exists():  # of an earlier time at this step
                for path in named:
                    path.unlink(missing_ok=True)
            raise
        sync_folder(folder)
        keeping.remove_old(folder, keep_last=rules.keep_last, best=rules.keep_best, written=state)


def load_newest(folder: Path) -> tuple[dict[str, Any], KeptRows] | None:
    """Return the newest checkpoint that is whole but for rows, and where these are; None: none.

    Raises:
        CheckpointMismatchError: it is of a model that was not sharded.
    """
    for name in reversed(keeping.oldest_first(folder)):
        path = folder / name.state
        try:
            content, description = checkpoint.read_state(path)
            if "moments" not in content:
                raise CheckpointMismatchError(
                    step=name.step, detail="it was written by workers that held the whole model"
                )
            kept = KeptRows(
                weights=folder / name.weights(description.weights_digest),
                optimizers=folder / name.moments(content["moments"]),
            )
            _check(kept.weights, description.weights_digest)
            _check(folder / name.moments(content["moments"]), content["moments"])
        except (OSError, BrokenCheckpointError) as error:
            checkpoint.skip(path, error)
        else:
            return content, kept
    return None


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, however large."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            found.update(chunk)
    return found.hexdigest()


def _check(path: Path, digest: str) -> None:
    if digest_of(path) != digest:
        raise BrokenCheckpointError(f"the checksum of {path.name} is wrong: the disk changed it")
