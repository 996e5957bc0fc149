"""What of a preview may its reader see? Figures of teams that they may see, names of own jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tenancy.access.principal import Principal

SeesNumbersOf = Callable[[Principal, str], bool]


def shown_result(
    result: Mapping[str, Any] | None, principal: Principal, sees_numbers_of: SeesNumbersOf
) -> dict[str, Any] | None:
    """Return what is shown of the stored result; None: there is none yet.

    Jobs of others that would have been paused are counted with their team's figures.
    """
    if result is None:
        return None
    teams = [row for row in result["teams"] if sees_numbers_of(principal, row["team"])]
    paused = [job for job in result["paused"] if job["team"] in principal.seen]
    return {**result, "teams": teams, "paused": paused}
