"""Where does a fetcher of a repository work? Among the uploads of a team, where old things go."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from storage.code.paths import CodePaths


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedFolder:
    """A folder of a repository, as a job's spec names it."""

    url: str
    ref: str = ""  # "": what the repository calls HEAD
    path: str = ""  # "": all of it
    secret: str = ""  # of the team

    @property
    def digest(self) -> str:
        named = [self.url, self.ref, self.path, self.secret]
        return hashlib.sha256(json.dumps(named).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """The folder of one fetcher; nobody else writes there."""

    folder: Path

    @classmethod
    def of(cls, paths: CodePaths, team_id: int, digest: str) -> Workplace:
        """`digest` is that of what is wanted."""
        return cls(folder=paths.uploads(team_id) / f"git-{digest}")

    @property
    def status(self) -> Path:
        return self.folder / "status"

    @property
    def repository(self) -> Path:
        return self.folder / "repository"

    @property
    def archive(self) -> Path:
        return self.folder / "code.tar.gz"

    @property
    def unpacked(self) -> Path:
        return self.folder / "code"

    @property
    def about(self) -> Path:
        return self.folder / "about"
