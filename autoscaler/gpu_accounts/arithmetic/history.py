"""What was recorded of a pool? Moments are microseconds since 1970; clocks and zones are not known.

A recording holds from `since` on until `until`. Whatever the clock does, what is recorded later is
never earlier, so each moment has one truth.
"""

from __future__ import annotations

from dataclasses import dataclass

Microseconds = int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldGpus:
    """What one job held."""

    since: Microseconds
    until: Microseconds
    team: str
    job: int  # the number of its account
    gpus: int
    starting_gpus: int = 0  # of them, those whose worker did not train yet
    priority: int = 0
    stall: Microseconds = 0  # from `since` on, in which nobody trained
    lost: Microseconds = 0  # of GPUs, trained in earlier times and found to be lost at `since`


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCapacity:
    """How many GPUs there were."""

    since: Microseconds
    until: Microseconds
    gpus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamPromise:
    """What a team was promised for its own jobs, beside all that the teams below it were."""

    since: Microseconds
    until: Microseconds
    team: str
    guaranteed: int
    kept: int = 0  # of it, what is never lent
