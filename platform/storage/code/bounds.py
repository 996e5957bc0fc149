"""How much code may be kept? Read with the settings, so nothing of Django is needed here."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBounds:
    """How large a snapshot may be. The client packs within the same."""

    most_bytes: int = 256 << 20  # of all its files, and of its archive
    most_files: int = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeLimits:
    """What a team may keep. All are guesses, for admins to correct."""

    snapshot: CodeBounds = field(default_factory=CodeBounds)
    team_bytes: int = 10 << 30  # of all snapshots of a team
    team_uploads: int = 8  # that are under way
