"""Who may have shells beside workers, and for how long? The environment says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cluster.variables import EnvironmentVariables

ALL_TEAMS: Final = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellSettings:
    """Who may have shells beside workers."""

    teams: frozenset[str]  # empty: nobody
    idle_seconds: float  # without a byte in either direction
    longest_seconds: float

    @property
    def is_on(self) -> bool:
        """True if some team may have them."""
        return bool(self.teams)

    def includes(self, team: str) -> bool:
        """True if they are on for this team."""
        return ALL_TEAMS in self.teams or team in self.teams


def read(variables: EnvironmentVariables) -> ShellSettings:
    """Raises: BadEnvironment."""
    names = variables.text("CONCERTINA_SHELL_TEAMS", default="").split(",")
    idle = variables.whole(
        "CONCERTINA_SHELL_IDLE_MINUTES", default=30, at_least=1, at_most=7 * 24 * 60
    )
    longest = variables.whole("CONCERTINA_SHELL_HOURS", default=12, at_least=1, at_most=7 * 24)
    return ShellSettings(
        teams=frozenset(filter(None, (name.strip() for name in names))),
        idle_seconds=idle * 60.0,
        longest_seconds=longest * 3600.0,
    )
