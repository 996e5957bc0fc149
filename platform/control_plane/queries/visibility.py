"""What may a caller see of teams that are not theirs? As much as the installation says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.conf import settings
from tenancy.access.principal import Principal

from autoscaler.planning.decisions.explanation import OTHER_TEAMS
from control_plane.configuration.team_visibility import TeamVisibility

__all__ = (
    "OTHER_TEAMS",
    "UNTOLD",
    "sees_gpus_of",
    "sees_numbers_of",
    "shown_by_team",
    "shown_reason",
)

UNTOLD: Final = "It does not answer; admins are told why."


def sees_numbers_of(principal: Principal, team: str) -> bool:
    """True if the caller sees the team's quotas, shares and usage; its jobs are separate."""
    return settings.CONCERTINA.teams_see != TeamVisibility.OWN or team in principal.seen


def sees_gpus_of(principal: Principal, team: str) -> bool:
    """True if the caller sees which GPUs of which nodes the team holds."""
    return settings.CONCERTINA.teams_see == TeamVisibility.EVERYBODY or team in principal.seen


def shown_by_team(principal: Principal, gpus: Mapping[str, int]) -> dict[str, int]:
    """Return GPUs by team; teams that are not shown are summed up."""
    shown: dict[str, int] = {}
    for team, count in gpus.items():
        name = team if sees_numbers_of(principal, team) else OTHER_TEAMS
        shown[name] = shown.get(name, 0) + count
    return shown


def shown_reason(principal: Principal, reason: str) -> str:
    """Return why a node is silent: addresses and users of machines are for admins."""
    return reason if principal.is_admin or not reason else UNTOLD
