"""Which samples went into which step? On request every worker writes down each committed step.

A line names the range of the whole group, so that it stands in every worker's file: a worker that
is killed takes no evidence with it. Lines are written unbuffered.
"""

from __future__ import annotations

import json
import os
from pathlib import Path


class SampleAudit:
    """One worker's record."""

    def __init__(self, folder: Path, worker: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{worker}.jsonl"
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def record(self, *, generation: int, step: int, epoch: int, batch: range, share: range) -> None:
        """`batch` is what the group used, `share` what this worker computed of it."""
        line = {
            "generation": generation,
            "step": step,
            "epoch": epoch,
            "start": batch.start,
            "stop": batch.stop,
            "share": [share.start, share.stop],
        }
        os.write(self._descriptor, json.dumps(line).encode() + b"\n")
