"""What is written down about one process? A folder of small files, each written whole or not.

`launch.json` (what to run) is written by the host, `supervisor.json` (who runs it), `command.json`
(as which process) and `exit.json` (how it ended) by the supervisor, `stop.json` (that it should
end) by the host.
Standard library only, and only quick imports: every supervisor loads this module.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECORD_VARIABLE = "CONCERTINA_RECORD"  # in the environment of all that belongs to a record
LABELS_VARIABLE = "CONCERTINA_LABELS"  # in the supervisor's: finds it even without its record


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
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


def read(path: Path) -> dict[str, Any] | None:
    """The file's content; None while there is no such file."""
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    return content


def replace(path: Path, content: dict[str, Any]) -> None:
    """Write the file whole; afterwards it survives a crash of the machine."""
    temporary = _written(path, content)
    temporary.replace(path)
    _flush_folder(path.parent)


def create_once(path: Path, content: dict[str, Any]) -> bool:
    """Like `replace`, but the first one wins: False when the file was there already."""
    temporary = _written(path, content)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
    _flush_folder(path.parent)
    return True


def _written(path: Path, content: dict[str, Any]) -> Path:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(json.dumps(content).encode())
        file.flush()
        os.fsync(file.fileno())
    return temporary


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
