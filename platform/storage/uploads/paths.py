"""Which folder of the service's state holds what a team has uploaded?

Each team has a folder: `DIGEST` below it is what came of an upload, `.uploads` what is on its way.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

_ASIDE: Final = ".discarded"
_UPLOADS: Final = ".uploads"
_OWN: Final = 0o700


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadPaths:
    """Where one installation keeps one kind of uploads."""

    kind: ClassVar[str]  # the folder of all of them
    mode: ClassVar[int] = _OWN  # of the folders on the way to what was uploaded

    state_dir: Path

    @property
    def root(self) -> Path:
        return self.state_dir / self.kind

    @property
    def aside(self) -> Path:
        """Return where folders wait for being removed."""
        return self.root / _ASIDE

    def folder(self, team_id: int, digest: str) -> Path:
        """Return the folder in which a job of the team finds it."""
        return self.of_team(team_id) / digest

    def uploads(self, team_id: int) -> Path:
        return self.of_team(team_id) / _UPLOADS

    def make(self, team_id: int) -> None:
        """Make the folders of a team."""
        for folder in (self.root, self.of_team(team_id)):
            folder.mkdir(mode=self.mode, parents=True, exist_ok=True)
        self.uploads(team_id).mkdir(mode=_OWN, exist_ok=True)

    def teams(self) -> list[int]:
        """Return the teams that have a folder, deleted ones included."""
        try:
            names = [path.name for path in self.root.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(int(name) for name in names if name.isascii() and name.isdigit())

    @contextmanager
    def locked(self, team_id: int) -> Iterator[None]:
        """Keep others from putting something of the team into place, and from taking it away."""
        lock = os.open(self.uploads(team_id) / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def of_team(self, team_id: int) -> Path:
        return self.root / str(team_id)
