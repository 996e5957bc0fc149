"""How much data may be uploaded? Read with the settings, so nothing of Django is needed here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DataLimits:
    """What a team may upload. All are guesses, for admins to correct."""

    most_bytes: int = 50 << 30  # of one folder
    team_bytes: int = 200 << 30  # of all folders of a team, with what is on its way
    team_uploads: int = 4  # that are under way
