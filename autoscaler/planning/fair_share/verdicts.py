"""What does admission say? Who runs, who gives way, who waits and for what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.job_vocabulary import JobReason
    from autoscaler.planning.demand import Demand


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRefusal:
    """Why a job may not run now. `blocker` is the job it stands behind, if one is the cause."""

    reason: JobReason
    position: int = 0
    blocker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """GPUs that add up for one large job: who starts now gives them back when it can start.

    `saved_gpus` of them are there: free, or used by guests, or freed by shrinking others.
    `promised_at` is when enough running jobs will have ended, by what is known of their lengths;
    None: of too many the length is not known.
    """

    job_id: str
    gpus: int
    saved_gpus: int
    since: float
    promised_at: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Who runs in a pool, who gives way, who waits."""

    admitted: tuple[Demand, ...]
    paused: tuple[Demand, ...]
    refused: Mapping[str, AdmissionRefusal]  # by job id
    guaranteed: frozenset[str]  # ids of jobs within what their team is entitled to
    owed: tuple[Demand, ...]  # waiting, admitted, within it
    gpus_free: int  # left when every admitted job takes its smallest size
    entitled: Mapping[str, int]  # GPUs by team: its guarantee, or fair share, as far as it is used
    reservation: Reservation | None = None
    gave_way: Mapping[str, Reservation] = field(default_factory=dict)  # by ids of paused guests
