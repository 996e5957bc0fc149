"""As which user of the machine do a team's processes run? Workers as one, coordinators as another.

Coordinators hold what no worker may have. The numbers are derived from the team's own, which no
other team ever gets, so they need no table and no line in /etc/passwd, and stay what they are as
long as the database lives.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from cluster.worker_host import LaunchRefused, ProcessRole

_USERS_PER_TEAM: Final = 2
_ROLES: Final = {ProcessRole.WORKER: 0, ProcessRole.COORDINATOR: 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamUsers:
    """A range of user numbers that nobody else on the machine uses."""

    first: int
    last: int
    remedy: str = "Let an administrator set CONCERTINA_TEAM_UIDS to a wider range."

    def __contains__(self, user: int) -> bool:
        return self.first <= user <= self.last

    def of(self, team_id: int, role: ProcessRole) -> int:
        """The number of the team's user.

        Raises:
            LaunchRefused: the range is too small for this team.
        """
        number = self.first + team_id * _USERS_PER_TEAM + _ROLES[role]
        if number > self.last:
            raise LaunchRefused(
                f"The team's user would be number {number}, outside {self.first}-{self.last}."
                f" {self.remedy}"
            )
        return number


def environment_of(user: int, *, home: str) -> dict[str, str]:
    """Variables that tell programs who they are, since there is no account to look up."""
    name = f"concertina-{user}"
    return {"HOME": home, "USER": name, "LOGNAME": name}


def is_root() -> bool:
    return os.geteuid() == 0
