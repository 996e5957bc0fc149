"""What do people see of teams in which they have no role? The environment says it, for all."""

from __future__ import annotations

from enum import StrEnum

from cluster.variables import EnvironmentVariables

_NAME = "CONCERTINA_TEAMS_SEE"


class TeamVisibility(StrEnum):
    """What is shown of other teams; never their jobs."""

    EVERYBODY = "everybody"  # their quotas, standings and usage, and which GPUs they hold
    NUMBERS = "numbers"  # the same, but for which GPUs those are
    OWN = "own"  # nothing, but for sums over all other teams


def read(variables: EnvironmentVariables) -> TeamVisibility:
    """Read it; by default as the variable said that had only two answers.

    Raises:
        BadEnvironment: it is none of these.
    """
    formerly = variables.boolean(f"{_NAME}_EACH_OTHER", default=True)
    default = TeamVisibility.EVERYBODY if formerly else TeamVisibility.OWN
    return TeamVisibility(variables.choice(_NAME, default=default, among=list(TeamVisibility)))
