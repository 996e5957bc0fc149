"""Which checkpoints are kept? The last ones, and beside them the best by what the script logged."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from concertina_worker.checkpoint_files import (
    SHOWN_DIGEST,
    CheckpointDescription,
    CheckpointName,
    read_about,
)
from concertina_worker.environment import BestCheckpointRule

LEFTOVER_SECONDS: Final = 600.0  # guessed: nobody writes, and then does not for so long


def oldest_first(folder: Path, kind: str = "pt") -> list[CheckpointName]:
    """Sort checkpoints by epoch, then by start, then by step."""
    found = (CheckpointName.of(path.name) for path in folder.glob(f"step-*.{kind}"))
    return sorted(name for name in found if name)


def told_by(path: Path) -> CheckpointDescription | None:
    """Return what a checkpoint is about; None: it does not say, or is broken."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return read_about(descriptor)
    except (OSError, ValueError):
        return None
    finally:
        os.close(descriptor)


def is_among_the_best(folder: Path, value: float, best: BestCheckpointRule) -> bool:
    """True if a checkpoint of which this was measured would be kept for it."""
    kept = _best_first(folder, best)[: best.count]
    return len(kept) < best.count or best.is_better(value, than=kept[-1][0])


def remove_old(
    folder: Path, *, keep_last: int, best: BestCheckpointRule | None, written: Path
) -> None:
    """Remove what is not to be kept, and what nobody has finished or removed."""
    names = oldest_first(folder)
    kept = {name.state for name in names[-keep_last:]} | {written.name}
    if best is not None:
        kept |= {name.state for _, name in _best_first(folder, best)[: best.count]}
    for name in names:
        if name.state not in kept:
            _remove(folder, name)
    for name in oldest_first(folder, "broken")[:-keep_last]:
        (folder / name.state).with_suffix(".broken").unlink(missing_ok=True)
    _remove_leftovers(folder.glob(".step-*.tmp"))
    weights = [*folder.glob("step-*.safetensors")]
    if len(weights) > len(kept):
        _remove_leftovers(path for path in weights if _has_no_state(path))
    moments = folder.glob("step-*.moments")
    _remove_leftovers(path for path in moments if not _state_beside(path).exists())


def _best_first(folder: Path, best: BestCheckpointRule) -> list[tuple[float, CheckpointName]]:
    """Those after whose step the metric was logged; of equals the later first."""
    found = list[tuple[float, CheckpointName]]()
    for name in reversed(oldest_first(folder)):
        about = told_by(folder / name.state)
        value = None if about is None else about.measured(best.metric)
        if value is not None:
            found.append((value, name))
    return sorted(found, key=lambda one: one[0], reverse=best.goal == "max")


def _remove(folder: Path, name: CheckpointName) -> None:
    """The state first: weights alone are no checkpoint."""
    path = folder / name.state
    about = told_by(path)
    path.unlink(missing_ok=True)
    if about is not None:
        (folder / name.weights(about.weights_digest)).unlink(missing_ok=True)
    for moments in folder.glob(name.moments("?" * SHOWN_DIGEST)):
        moments.unlink(missing_ok=True)


def _has_no_state(weights: Path) -> bool:
    """Whoever wrote them was ended before it came to the state, or another's took its place."""
    about = told_by(_state_beside(weights))
    return about is None or not weights.stem.endswith(f".{about.weights_digest[:SHOWN_DIGEST]}")


def _state_beside(path: Path) -> Path:
    return path.with_suffix("").with_suffix(".pt")  # without the digest


def _remove_leftovers(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(FileNotFoundError):  # whoever wrote it has finished
            if time.time() - path.stat().st_mtime > LEFTOVER_SECONDS:
                path.unlink()
