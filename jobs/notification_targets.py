"""Whom may a job's `notify` name? Who tells others is above jobs, and says so as it starts."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from tenancy.models import Team

NamesOfTeam = Callable[[Team], Collection[str]]


class NotificationTargets:
    """The names of those that are told of a team's jobs."""

    def __init__(self) -> None:
        self._names_of: NamesOfTeam | None = None

    def come_from(self, names_of: NamesOfTeam) -> None:
        """Ask this from now on."""
        self._names_of = names_of

    def of(self, team: Team) -> Collection[str]:
        return () if self._names_of is None else self._names_of(team)


TARGETS: Final = NotificationTargets()
