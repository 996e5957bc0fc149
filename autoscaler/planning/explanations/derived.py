"""Which explanation does a job have? Derived from the picture of its pool when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.explanations import changes, keeping, waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.decisions.explanation import Explanation
    from autoscaler.planning.outcomes.outcome import AllocationOutcome, PoolPicture


class OnDemand(Mapping[str, "Explanation"]):
    """Explanations by job id. Each costs some microseconds when it is asked for, nothing before."""

    def __init__(self, pictures: Sequence[PoolPicture]) -> None:
        self._pictures = pictures

    def __getitem__(self, job_id: str) -> Explanation:
        for picture in self._pictures:
            if (outcome := picture.by_id.get(job_id)) is not None:
                return explanation_of(outcome, picture)
        raise KeyError(job_id)

    def __iter__(self) -> Iterator[str]:
        return (outcome.job_id for picture in self._pictures for outcome in picture.outcomes)

    def __len__(self) -> int:
        return sum(len(picture.outcomes) for picture in self._pictures)


def explanation_of(outcome: AllocationOutcome, picture: PoolPicture) -> Explanation:  # noqa: PLR0911 - one for each action
    match outcome.action:
        case Action.START:
            return changes.started(outcome, picture)
        case Action.RESCALE:
            return changes.rescaled(outcome, picture)
        case Action.PAUSE:
            return changes.paused(outcome, picture)
        case Action.KEEP:
            return keeping.running(outcome, picture)
        case Action.DROP:
            return waiting.dropped(outcome, picture)
        case Action.WAIT:
            if picture.cause_of(outcome).reason is JobReason.EXCEEDS_LIMIT:
                return waiting.refused(outcome, picture)
            return waiting.waiting(outcome, picture)
