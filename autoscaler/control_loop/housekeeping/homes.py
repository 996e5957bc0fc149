"""Which homes of teams' users does nobody need any more? Those of teams that have no workers.

Neither those that run nor any on record: the team was deleted, or all its jobs were. It may also be
a new one that an older database, put in place, gave the number of a lost team: it must not find
that team's home as its own. So this is asked before anything is started.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from cluster.files.discarding import discard
from cluster.process_environments import ProcessEnvironments
from cluster.worker_host import LaunchRefused, ProcessRole
from django.db.models import Exists, OuterRef
from tenancy.models import Team

from jobs.models import Worker

_ASIDE: Final = ".discarded"

_log = logging.getLogger(__name__)


def remove_homes(state_dir: Path, environments: ProcessEnvironments) -> None:
    """One statement, where teams have users; else none."""
    homes = state_dir / "homes"
    found = _users_in(homes)
    if not found:
        return
    needed = _users_of_teams_with_workers(environments)
    for user in sorted(filter(environments.is_user_of_a_team, found - needed)):
        try:
            discard(homes / str(user), aside=homes / _ASIDE)
        except OSError as problem:  # the next tick tries again
            extra = {"action": "remove_home", "user": user}
            _log.warning("A home cannot be removed, later perhaps: %s", problem, extra=extra)


def _users_in(homes: Path) -> set[int]:
    try:
        names = {path.name for path in homes.iterdir()}
    except FileNotFoundError:
        return set()
    return {int(name) for name in names if name.isascii() and name.isdigit()}


def _users_of_teams_with_workers(environments: ProcessEnvironments) -> set[int]:
    workers = Worker.objects.filter(job__team=OuterRef("pk"))
    teams = Team.objects.filter(Exists(workers)).values_list("pk", flat=True)
    users = (_user(environments, team_id, role) for team_id in teams for role in ProcessRole)
    return {user for user in users if user is not None}


def _user(environments: ProcessEnvironments, team_id: int, role: ProcessRole) -> int | None:
    try:
        return environments.user_of(team_id, role)
    except LaunchRefused:  # the range is too small for it: it has no home
        return None
