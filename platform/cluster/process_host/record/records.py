"""What is written down about one process? A folder of small files, each written whole or not.

`launch.json` (what to run) is written by the host, `supervisor.json` (who runs it), `command.json`
(as which process) and `exit.json` (how it ended) by the supervisor, `stop.json` (that it should
end) by the host.
Standard library only, and only quick imports: every supervisor loads this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cluster.files.json_files import create_once, read, replace

__all__ = ["LABELS_VARIABLE", "RECORD_VARIABLE", "CommandRecord", "create_once", "read", "replace"]

RECORD_VARIABLE = "CONCERTINA_RECORD"  # in the environment of all that belongs to a record
LABELS_VARIABLE = "CONCERTINA_LABELS"  # in the supervisor's: finds it even without its record


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRecord:
    """The folder of one process."""

    folder: Path

    @property
    def launch_path(self) -> Path:
        return self.folder / "launch.json"

    @property
    def supervisor_path(self) -> Path:
        return self.folder / "supervisor.json"

    @property
    def command_path(self) -> Path:
        return self.folder / "command.json"

    @property
    def stop_path(self) -> Path:
        return self.folder / "stop.json"

    @property
    def exit_path(self) -> Path:
        return self.folder / "exit.json"

    @property
    def lock_path(self) -> Path:
        return self.folder / "lock"

    @property
    def was_started(self) -> bool:
        return self.supervisor_path.exists() or self.exit_path.exists()
