"""Where does a job resume when nobody is left? At its newest complete checkpoint.

The files of a checkpoint are written under temporary names, synced to disk, and only then given
their names: see `concertina_worker.checkpoint_files`. Each has a checksum: a checkpoint that is
torn or rotten is skipped for the one before it and given another name, so that it does not pass for
the newest when old ones are removed; the job's log says why.

Two may write into one folder: workers of an attempt that is over may still be ending, or train on
upon a node that nobody reaches, for a job that was started again elsewhere. So names say of which
start of the job a checkpoint is, and one of an earlier start is always older, whatever its step:
it is neither loaded before those of its successors nor takes their place. A database that was
restored from a backup counts starts a second time; what it counts is of a new *epoch*, and all of
an earlier epoch is older. A file that somebody may be writing is left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from concertina_worker.checkpoint_files import (
    FOOTER_BYTES,
    FORMER_MAGIC,
    MAGIC,
    CheckpointDescription,
    CheckpointName,
    about,
)
from concertina_worker.environment import BestCheckpointRule
from concertina_worker.state.checkpoints import former_names, keeping, weights
from concertina_worker.state.checkpoints.written_file import (
    BrokenCheckpointError,
    HashingFile,
    sync_folder,
    temporary,
    write_whole,
)
from concertina_worker.state.training_state import CheckpointMismatchError

_log = logging.getLogger(__name__)


def write(
    folder: Path,
    content: Mapping[str, Any],
    description: CheckpointDescription,
    *,
    keep_last: int,
    keep_best: BestCheckpointRule | None = None,
    start: int = 0,
    epoch: int = 0,
) -> Path:
    """Blocks until the checkpoint would survive a power cut; then removes those not to be kept.

    `told` need not know of weights.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = CheckpointName(step=description.step, start=start, epoch=epoch)
    for_everybody, rest = _divided(content)
    metadata = {"format": "pt", "step": str(description.step), "epoch": f"{description.epoch:g}"}
    with temporary(folder, name.stem) as path:
        written = write_whole(path, lambda file: weights.write(file, for_everybody, metadata))
        path_of_weights = path.replace(folder / name.weights(written.digest))
    description = replace(description, weights_bytes=written.bytes, weights_digest=written.digest)
    try:
        state = write_state(folder, name, rest, description)
    except BaseException:
        if not (folder / name.state).exists():  # of another worker, with these weights
            path_of_weights.unlink(missing_ok=True)
        raise
    sync_folder(folder)
    keeping.remove_old(folder, keep_last=keep_last, best=keep_best, written=state)
    return state


def write_state(
    folder: Path,
    name: CheckpointName,
    content: Mapping[str, Any],
    description: CheckpointDescription,
) -> Path:
    """Write what is not for everybody, last of all."""
    with temporary(folder, name.stem) as path:
        write_whole(path, partial(_write_state, dict(content), description))
        return path.replace(folder / name.state)


def load_newest(folder: Path) -> dict[str, Any] | None:
    """The newest checkpoint that is whole; None when there is none."""
    for name in reversed(keeping.oldest_first(folder)):
        path = folder / name.state
        try:
            return read(path)
        except (OSError, BrokenCheckpointError) as error:
            skip(path, error)
    return None


def skip(path: Path, error: OSError | BrokenCheckpointError) -> None:
    """Say why this one is not taken; one that is broken is not to pass for the newest again."""
    if isinstance(error, BrokenCheckpointError):
        _set_aside(path)
    _log.warning("The checkpoint %s is skipped for the one before: %s action=skip", path, error)


def read(path: Path, path_of_weights: Path | None = None) -> dict[str, Any]:
    """Read a checkpoint by its state; its weights lie beside it, unless somebody renamed them.

    Raises: OSError, BrokenCheckpointError, or CheckpointMismatchError when a class is gone.
    """
    content, description = read_state(path)
    if "order" not in content:
        if "moments" in content:
            raise CheckpointMismatchError(
                step=description.step,
                detail="it was written in parts, by workers none of which had the whole model",
            )
        return content
    if path_of_weights is None:
        name = CheckpointName.of(path.name) or CheckpointName(step=description.step)
        path_of_weights = path.parent / name.weights(description.weights_digest)
    try:
        found = weights.read(path_of_weights, digest=description.weights_digest)
    except FileNotFoundError as error:
        raise BrokenCheckpointError("its weights are not there") from error
    return _together(content, found)


def read_state(path: Path) -> tuple[dict[str, Any], CheckpointDescription]:
    """Read what is not for everybody; of a checkpoint of an earlier release that is all.

    Raises: OSError, BrokenCheckpointError, or CheckpointMismatchError when a class is gone.
    """
    data = path.read_bytes()
    body, footer = memoryview(data)[:-FOOTER_BYTES], data[-FOOTER_BYTES:]
    if not footer.startswith((MAGIC, FORMER_MAGIC)):
        raise BrokenCheckpointError("it was not written to its end")
    if not footer.endswith(hashlib.sha256(body).digest()):
        raise BrokenCheckpointError("its checksum is wrong: the disk has changed it")
    if footer.startswith(FORMER_MAGIC):
        return _unpickled(body, path), CheckpointDescription(step=0)
    description, tail = about(data)
    return _unpickled(memoryview(data)[:-tail], path), description


def _divided(content: Mapping[str, Any]) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return what everybody can read, by plain names, and the rest."""
    model, plain = content["model"], content["plain_names"]
    found = {plain[name]: value for name, value in model.items() if weights.is_plain(value)}
    rest = model.copy()  # with what it has beside its items, as a module's has versions
    for name in model:
        if plain[name] in found:
            del rest[name]
    return found, {**content, "model": rest, "order": [*model]}


def _together(content: dict[str, Any], found: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    model, plain = content["model"], content["plain_names"]
    own, order = dict(model), content.pop("order")
    try:
        model.clear()
        model.update((name, own[name] if name in own else found[plain[name]]) for name in order)
    except KeyError as error:
        raise BrokenCheckpointError(f"its weights lack {error}") from error
    return content


def _write_state(
    content: dict[str, Any], description: CheckpointDescription, file: HashingFile
) -> None:
    torch.save(content, file)  # type: ignore[arg-type]
    file.write(description.tail())
    file.write(MAGIC + file.digest())


def _unpickled(body: memoryview, path: Path) -> dict[str, Any]:
    # Extras may be objects of any class; the job itself, or one of its team, wrote the file.
    try:
        content: dict[str, Any] = torch.load(
            io.BytesIO(body), weights_only=False, map_location="cpu", pickle_module=former_names
        )
    except (AttributeError, ImportError) as error:
        named = CheckpointName.of(path.name)
        raise CheckpointMismatchError(step=named.step if named else 0, detail=str(error)) from error
    return content


def _set_aside(path: Path) -> None:
    with contextlib.suppress(OSError):  # a folder that can only be read
        path.replace(path.with_suffix(".broken"))
