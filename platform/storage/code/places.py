"""Which folder or file of the service's state holds which code?

Below `code` each team has a folder, for the service's eyes only: a worker sees its own snapshot,
where its host shows it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ASIDE: Final = ".discarded"
_UPLOADS: Final = ".uploads"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePlaces:
    """Where one installation keeps code."""

    state_dir: Path

    @property
    def root(self) -> Path:
        return self.state_dir / "code"

    @property
    def aside(self) -> Path:
        """Return where folders wait for being removed."""
        return self.root / _ASIDE

    def folder(self, team_id: int, digest: str) -> Path:
        """Return the folder in which a job of the team finds this snapshot."""
        return self._of_team(team_id) / digest

    def archive(self, team_id: int, digest: str) -> Path:
        return self._of_team(team_id) / f"{digest}.tar.gz"

    def uploads(self, team_id: int) -> Path:
        return self._of_team(team_id) / _UPLOADS

    def make(self, team_id: int) -> None:
        """Make the folders of a team."""
        for folder in (self.root, self._of_team(team_id), self.uploads(team_id)):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def teams(self) -> list[int]:
        """Return the teams that have a folder, deleted ones included."""
        try:
            names = [path.name for path in self.root.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(int(name) for name in names if name.isascii() and name.isdigit())

    @contextmanager
    def locked(self, team_id: int) -> Iterator[None]:
        """Keep others from putting snapshots of the team into place, and from taking them away."""
        lock = os.open(self.uploads(team_id) / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _of_team(self, team_id: int) -> Path:
        return self.root / str(team_id)
