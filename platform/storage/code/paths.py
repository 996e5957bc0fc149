"""Which folder or file of the service's state holds which code?

All of it is for the service's eyes only: a worker sees its own snapshot, where its host shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from storage.uploads.paths import UploadPaths


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePaths(UploadPaths):
    """Folders below `code`; beside each snapshot is the archive it came as."""

    kind = "code"

    def archive(self, team_id: int, digest: str) -> Path:
        return self.of_team(team_id) / f"{digest}.tar.gz"
