"""Where does the memory of a killed coordinator lie? In one file, replaced atomically.

No fsync: the file has to outlive the process, not a power cut of the machine, which ends the
workers as well; they resume from their checkpoint then.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from concertina_worker.coordinator.memory import Memory

_log = logging.getLogger(__name__)


class StateFile:
    """The durable form of `Memory` in a folder of the coordinator's own."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "memory.json"
        folder.mkdir(parents=True, exist_ok=True)

    def load(self) -> Memory:
        """A new memory when there is none, or none that can be read.

        What was desired is asked for anew: a stop from before a pause must not meet the workers
        of the resumed job. What fitted into memory was told to the service, which remembers it by
        type of GPU.
        """
        if not self._path.exists():
            return Memory()
        try:
            memory = Memory.from_json(json.loads(self._path.read_text()))
        except (ValueError, TypeError, KeyError) as error:
            _log.warning("The state file cannot be read, starting anew: %s action=forget", error)
            return Memory()
        memory.desired = None
        memory.batch_limit = None
        return memory

    def save(self, memory: Memory) -> None:
        temporary = self._path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(memory.to_json()))
        temporary.replace(self._path)
