"""Which words do users, the database and the planner share? Each choice, once."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

RECLAIM_DELAY_SECONDS: Final = 0.0  # a claim waits so long, unless its pool says otherwise


class AdmissionVariant(StrEnum):
    """What becomes of a job that does not fit beside the admitted ones when it arrives."""

    QUEUEING = "queueing"  # it waits
    DROPPING = "dropping"  # it is refused for good, as in the founding paper's second variant


class ReclaimTarget(StrEnum):
    """How far a team with waiting work may take GPUs back from borrowers."""

    GUARANTEE = "guarantee"  # up to its guarantee
    FAIR_SHARE = "fair_share"  # up to its fair share of the moment, surplus included


class Preemptibility(StrEnum):
    """How far a job is spared when GPUs go back; it may always be shrunk to `min_workers`."""

    PREEMPTIBLE = "preemptible"
    SEMI_PREEMPTIBLE = "semi-preemptible"  # min_workers protected while in quota, surplus not
    NON_PREEMPTIBLE = "non-preemptible"
