"""Who is told what of a job, beside those who are told of all jobs of its team?"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field, StringConstraints

from autoscaler.coded_words import CodedWord
from jobs.spec.names import check_text
from jobs.spec.part import SpecPart

MOST_TARGETS: Final = 10
_LONGEST: Final = 40  # as a webhook's name


class Occasion(CodedWord):
    """When somebody is told of a job."""

    STARTED = "started", "started: it begins to train, also once more after a pause or a loss"
    COMPLETED = "completed", "completed: it ran to its end"
    FAILED = "failed", "failed: it ended with an error"
    SHRUNK = "shrunk", "shrunk: it goes on with fewer workers"
    PAUSED = "paused", "paused: by a person, or to give way"
    DEADLINE_AT_RISK = "deadline_at_risk", "deadline_at_risk: it is expected to end too late"
    IDLE = "idle", "idle: it holds GPUs and does nothing"


Target = Annotated[
    str, StringConstraints(min_length=1, max_length=_LONGEST), AfterValidator(check_text)
]
"""The name of a webhook that is told of the team's jobs."""


def _usual() -> list[Occasion]:
    return [Occasion.COMPLETED, Occasion.FAILED]


class Notify(SpecPart):
    """Webhooks that are told of a job, and the occasions."""

    to: Annotated[list[Target], Field(min_length=1, max_length=MOST_TARGETS)]
    on: Annotated[
        list[Annotated[Occasion, Field(strict=False)]],
        Field(min_length=1, max_length=len(Occasion)),
    ] = Field(default_factory=_usual)
