"""What can be asked about how long jobs, and parts of them, are kept?"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from concertina.connection.connection import Send
    from concertina.documents import JobRemovals, KeptPart, TeamChange, TeamRetention, TeamStorage


class Keeping:
    """The rules of teams, and what follows from them for a job."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

    def rules(self, team: str | None = None) -> TeamRetention:
        """Ask for how long a team keeps each part; by default the token's own team."""
        address = f"{self._of_team(team)}/retention"
        return cast("TeamRetention", self._send("GET", address)[1])

    def change(
        self, part: str, changes: dict[str, int | None], team: str | None = None
    ) -> KeptPart:
        """Set the `days` of a part, 0 for ever; an admin also `least_days` and `most_days`.

        None takes a number back. What is older goes within minutes.
        """
        address = f"{self._of_team(team)}/retention/{part}"
        return cast("KeptPart", self._send("PATCH", address, body=changes)[1])

    def storage(self, team: str | None = None) -> TeamStorage:
        """Return how much a team's jobs keep on disk, and which of them most."""
        return cast("TeamStorage", self._send("GET", f"{self._of_team(team)}/storage")[1])

    def limit_storage(self, gibibytes: int | None, team: str | None = None) -> TeamChange:
        """Let a team's jobs keep so much; None: as much as the installation says. Admins only."""
        body = {"most_disk_gib": gibibytes}
        return cast("TeamChange", self._send("PATCH", self._of_team(team), body=body)[1])

    def removals(self, job_id: str) -> JobRemovals:
        """What of a job goes when."""
        return cast("JobRemovals", self._send("GET", f"/jobs/{job_id}/removals")[1])
