"""What does a script's error mean in an elastic job? Of typical ones: what to do instead."""

from __future__ import annotations

from typing import Final

from concertina_worker.environment import FIXED_SIZE_VARIABLES
from concertina_worker.manual import Section

_NO_GROUP: Final = (
    "there is no process group, because workers come and go: use job.rank, job.mean and job.ddp",
    Section.DISTRIBUTED_DATA_PARALLEL,
)
_BY_TEXT: Final = {
    "Default process group has not been initialized": _NO_GROUP,
    "using env:// rendezvous": _NO_GROUP,
    "No inf checks were recorded": (
        'give the loss scaler to the job: job.state("scaler", scaler)',
        Section.MIXED_PRECISION,
    ),
    "Tried to step": (
        "the number of steps changes with the batch: count schedules in epochs",
        Section.SCHEDULERS,
    ),
}


def on(error: BaseException) -> str | None:
    """One sentence with the section to read; None when there is nothing to add."""
    if isinstance(error, KeyError) and error.args[:1] and error.args[0] in FIXED_SIZE_VARIABLES:
        return _sentence("ask job.rank and job.world_size, which change", Section.NUMBER_OF_WORKERS)
    for text, (advice, section) in _BY_TEXT.items():
        if text in str(error):
            return _sentence(advice, section)
    return None


def _sentence(advice: str, section: Section) -> str:
    return f"In an elastic job: {advice}. (See {section}.)"
