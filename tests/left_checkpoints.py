"""Checkpoints as the runtime leaves them, made without PyTorch: only their form matters here."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Final

from concertina_worker.checkpoint_files import (
    FORMER_MAGIC,
    MAGIC,
    CheckpointDescription,
    CheckpointName,
    Value,
)

PICKLED: Final = b"what only PyTorch reads"


def weights_of(*numbers: float) -> bytes:
    """A file of safetensors with one tensor, `layer`."""
    entry = {"dtype": "F32", "shape": [len(numbers)], "data_offsets": [0, 4 * len(numbers)]}
    header = json.dumps({"__metadata__": {"format": "pt"}, "layer": entry}).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + struct.pack(f"<{len(numbers)}f", *numbers)


def leave(
    folder: Path, step: int, *, start: int = 0, weights: bytes = b"", **measured: float
) -> CheckpointDescription:
    """Put a checkpoint there; `measured` was logged right after its step."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = weights or weights_of(float(step))
    told = CheckpointDescription(
        step=step,
        samples=8 * step,
        epoch=step / 10,
        at=1_763_834_000.0,
        values=tuple(Value(name=key, value=one, step=step) for key, one in measured.items()),
        weights_bytes=len(weights),
        weights_digest=hashlib.sha256(weights).hexdigest(),
    )
    name = CheckpointName(step=step, start=start)
    (folder / name.weights(told.weights_digest)).write_bytes(weights)
    body = PICKLED + told.tail()
    (folder / name.state).write_bytes(body + MAGIC + hashlib.sha256(body).digest())
    return told


def leave_as_before(folder: Path, step: int) -> None:
    """Put one of an earlier release there: a single file that tells nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / CheckpointName(step=step).state
    path.write_bytes(PICKLED + FORMER_MAGIC + hashlib.sha256(PICKLED).digest())
