"""Where does the memory of a killed coordinator lie? In one file, replaced atomically.

One file for each term, read by the next: a coordinator that was replaced, on a node that does not
answer, may write on for a while and must not overwrite what its successor knows.

No fsync: the file has to outlive the process, not a power cut of the machine, which ends the
workers as well; they resume from their checkpoint then.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from concertina_worker.coordinator.knowledge.memory import Memory

_log = logging.getLogger(__name__)


class StateFile:
    """The durable form of `Memory` in a folder of the coordinators of one job."""

    def __init__(self, folder: Path, *, term: int = 0, start: int = 0) -> None:
        """The file is that of the coordinator of this term, in this start of the job."""
        self._folder = folder
        self._term = term
        self._start = start
        folder.mkdir(parents=True, exist_ok=True)

    def load(self) -> Memory:
        """Read the memory of the newest term; make a new one when none can be read."""
        newest = next((p for p in map(self._path, range(self._term, -1, -1)) if p.exists()), None)
        if newest is None:
            return Memory(start=self._start)
        try:
            memory = Memory.from_json(json.loads(newest.read_text()))
        except (ValueError, TypeError, KeyError) as error:
            _log.warning("The state file cannot be read, starting anew: %s action=forget", error)
            return Memory(start=self._start)
        return taken_over(memory, start=self._start)

    def save(self, memory: Memory) -> None:
        path = self._path(self._term)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(memory.to_json()))
        temporary.replace(path)

    def _path(self, term: int) -> Path:
        return self._folder / (f"memory-{term}.json" if term else "memory.json")


def taken_over(memory: Memory, *, start: int) -> Memory:
    """Return what a coordinator knew as its successor, in this start of the job, begins with it.

    What was desired is asked for anew: a stop from before a pause must not meet the workers
    of the resumed job. What fitted into memory was told to the service, which remembers it by
    type of GPU.
    """
    memory.desired = None
    memory.batch_limit = None
    if start > memory.start:
        memory.start_over(start)
    return memory
