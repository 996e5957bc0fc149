"""Which of a job's checkpoints does somebody mean? A step in digits, `latest` or `best`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from storage.errors import CheckpointUnknown
from storage.results import checkpoints, unwanted
from storage.results.checkpoints import WholeCheckpoint
from storage.results.folders import Results

_LATEST: Final = "latest"
_BEST: Final = "best"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The value by which a job's best checkpoint is known, as its spec says."""

    metric: str
    goal: str


def find(results: Results, which: str, measure: Measure | None) -> WholeCheckpoint:
    """Find one among those that nobody has deleted.

    Raises:
        CheckpointUnknown: there is none.
    """
    hidden = unwanted.paths(results)
    if which == _LATEST:
        return checkpoints.find(results, _LATEST, without=hidden)
    if which != _BEST:
        return checkpoints.find(results, int(which), without=hidden)
    if measure is None:
        raise CheckpointUnknown(
            "The job does not say which checkpoint is the best: its spec has no"
            " checkpoint.keep_best. Name a step, or latest."
        )
    return checkpoints.best(results, measure.metric, measure.goal, without=hidden)
