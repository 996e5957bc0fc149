"""How much may a job write on this installation, and all jobs of a team together?

Everything counts that its processes keep in the folders that the platform gives them, over all
workers and nodes: checkpoints, outputs, the folder they start in, scratch space of those that run.
Logs have bounds of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from jobs.spec.quantities import size_in_words

NEAR: Final = 0.8  # of a limit; guessed: a checkpoint more, where five are kept
_GIB: Final = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskLimits:
    """The limits of each job. All are guesses, for admins to correct; a change counts at once."""

    usual_bytes: int = 50 * _GIB  # of a job that asks for nothing
    most_bytes: int = 500 * _GIB  # that a job may ask for
    most_files: int = 2_000_000  # folders count; a file system has only so many
    team_bytes: int = 5000 * _GIB  # of all jobs of a team that has no limit of its own

    def bytes_of(self, wanted: int | None) -> int:
        """Return the limit of a job that asked for so much, perhaps while more was allowed."""
        return min(self.usual_bytes if wanted is None else wanted, self.most_bytes)

    def of_team(self, team: str, *, bytes_: int, gibibytes: int | None) -> TeamDisk:
        """Say how a team stands for which admins set so many GiB; None: they set none."""
        most_bytes = self.team_bytes if gibibytes is None else gibibytes * _GIB
        return TeamDisk(team=team, bytes_=bytes_, most_bytes=most_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamDisk:
    """What all jobs of a team keep, ended ones included, and the most that they may."""

    team: str
    bytes_: int
    most_bytes: int

    @property
    def is_full(self) -> bool:
        return self.bytes_ > self.most_bytes

    @property
    def is_near(self) -> bool:
        """True while its people can still do something, and should hear of it."""
        return self.bytes_ > NEAR * self.most_bytes

    def said(self) -> str:
        """Say how much it is, and of how much."""
        kept, most = size_in_words(self.bytes_), size_in_words(self.most_bytes)
        more = f"more than the {most}" if self.is_full else f"of the {most}"
        return f"Jobs of team {self.team} keep {kept} on disk, {more} that they may."

    def remedy(self) -> str:
        """Say what to delete, and whom to ask."""
        return (
            f"Delete what nobody needs (`concertina storage --team {self.team}` names the jobs that"
            " keep most), or ask an admin to raise the team's `most_disk_gib`."
        )
