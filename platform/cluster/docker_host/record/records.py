"""What is written down about a container's process? What Docker cannot keep, in a folder for each.

`process.json`: which process it is, and how far its preparation is. `stop.json`: until when it may
take its time to end; `asked.json`: what the daemon knows of that. `ending.json`: how one ended that
never became a container. `forgotten`: nobody wants to know of it any more. `log.json`: how far its
log was copied. `run/`: what the container reads at its start. Whoever prepares or removes a process
holds `lock`, whoever copies its log `log.lock`; the kernel lets go when they die. A file that is
torn counts as none: what runs is found by its labels all the same, and the rest is asked for again.
"""

from __future__ import annotations

import logging
import re
import shutil
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from cluster.files import json_files
from cluster.files.lock_files import is_held
from cluster.files.private_folders import make_private
from cluster.worker_host import (
    Failing,
    Labels,
    LaunchRefused,
    ObservedProcess,
    ProcessPhase,
    ProcessRole,
)

_log: Final = logging.getLogger(__name__)
_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]{0,120}")  # what Docker takes


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerRecord:
    """The folder of one process."""

    folder: Path

    @property
    def process_id(self) -> str:
        return self.folder.name

    @property
    def process_path(self) -> Path:
        return self.folder / "process.json"

    @property
    def stop_path(self) -> Path:
        return self.folder / "stop.json"

    @property
    def asked_path(self) -> Path:
        return self.folder / "asked.json"

    @property
    def ending_path(self) -> Path:
        return self.folder / "ending.json"

    @property
    def forgotten_path(self) -> Path:
        return self.folder / "forgotten"

    @property
    def log_cursor_path(self) -> Path:
        return self.folder / "log.json"

    @property
    def run_dir(self) -> Path:
        return self.folder / "run"

    @property
    def lock_path(self) -> Path:
        return self.folder / "lock"

    @property
    def log_lock_path(self) -> Path:
        return self.folder / "log.lock"

    @property
    def node(self) -> str | None:
        """Return where it was to run; None: nobody knows."""
        document = _read(self.process_path)
        return None if document is None else str(document["node"])

    def kill_at(self) -> float | None:
        """The second since 1970 when it has to be gone; None: nobody asked it to end."""
        return _kill_at(self.stop_path)

    def asked(self) -> float | None:
        """Return when its daemon was asked to end it; None: it did not hear of that yet."""
        return _kill_at(self.asked_path)

    def begin(self, labels: Labels, node: str) -> None:
        """Write down which process this is, the first time; `lock` is held."""
        document = {"labels": asdict(labels), "node": node, "started_at": time.time(), "note": ""}
        if _read(self.process_path) is None:
            json_files.replace(self.process_path, document)

    def tell(self, note: str) -> None:
        """Tell how far its preparation is."""
        document = _read(self.process_path)
        if document is not None and document["note"] != note:
            json_files.replace(self.process_path, {**document, "note": note})

    def end(
        self, *, exit_code: int | None = None, failing: Failing | None = None, note: str = ""
    ) -> None:
        """It will never become a container; `lock` is held."""
        ending = {
            "exit_code": exit_code,
            "failing": failing,
            "note": note,
            "ended_at": time.time(),
        }
        json_files.replace(self.ending_path, ending)

    @property
    def has_ended(self) -> bool:
        """True if it has ended without ever having become a container."""
        return _read(self.ending_path) is not None

    def observed(self) -> ObservedProcess | None:
        """The process as long as, or because, it has no container; None: nothing is known."""
        document, ending = _read(self.process_path), _read(self.ending_path)
        if document is None:
            return None
        begun = {
            "labels": _labels(document["labels"]),
            "node": document["node"],
            "started_at": moment(document["started_at"]),
        }
        if ending is None:
            note = document["note"]
            return ObservedProcess(phase=ProcessPhase.PREPARING, note=note, **begun)
        return ObservedProcess(
            phase=ProcessPhase.EXITED,
            exit_code=ending["exit_code"],
            ended_at=moment(ending["ended_at"]),
            failing=Failing(ending["failing"]) if ending["failing"] else None,
            note=ending["note"],
            **begun,
        )

    def is_being_prepared(self) -> bool:
        """True if a service process is at it."""
        return is_held(self.lock_path)

    def forget(self) -> None:
        """Nobody wants to know of it any more; what is left of it goes when it can."""
        make_private(self.folder)
        self.forgotten_path.touch()

    @property
    def is_forgotten(self) -> bool:
        return self.forgotten_path.exists()

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """All folders of one installation."""

    state_dir: Path

    @property
    def folder(self) -> Path:
        return self.state_dir / "containers"

    def of(self, process_id: str) -> ContainerRecord:
        """Raises: LaunchRefused, if this cannot be the name of a container."""
        if not _NAME.fullmatch(process_id):
            raise LaunchRefused(f"{process_id!r} cannot name a process.")
        return ContainerRecord(folder=self.folder / process_id)

    def all(self) -> tuple[ContainerRecord, ...]:
        try:
            folders = sorted(path for path in self.folder.iterdir() if path.is_dir())
        except FileNotFoundError:
            return ()
        return tuple(ContainerRecord(folder=folder) for folder in folders)


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _kill_at(path: Path) -> float | None:
    document = _read(path)
    return None if document is None else float(document["kill_at"])


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return json_files.read(path) or None
    except ValueError as problem:
        _log.warning("%s counts as none: %s", path, problem, extra={"action": "read_record"})
        return None


def _labels(document: dict[str, Any]) -> Labels:
    return Labels(**{**document, "role": ProcessRole(document["role"])})
