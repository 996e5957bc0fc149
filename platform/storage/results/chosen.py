"""Which of a job's checkpoints does somebody mean? A step in digits, `latest` or `best`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from storage.errors import CheckpointUnknown
from storage.results import checkpoints, unwanted
from storage.results.checkpoints import Checkpoint
from storage.results.places import Results

_LATEST: Final = "latest"
_BEST: Final = "best"


def find(results: Results, which: str, resolved_spec: Mapping[str, Any]) -> Checkpoint:
    """Find one among those that nobody has deleted; which is the best, the job's spec says.

    Raises:
        CheckpointUnknown: there is none.
    """
    hidden = unwanted.paths(results)
    if which == _LATEST:
        return checkpoints.find(results, _LATEST, without=hidden)
    if which != _BEST:
        return checkpoints.find(results, int(which), without=hidden)
    rule = resolved_spec.get("checkpoint", {}).get("keep_best")  # none of an earlier release
    if rule is None:
        raise CheckpointUnknown(
            "The job does not say which checkpoint is the best: its spec has no"
            " checkpoint.keep_best. Name a step, or latest."
        )
    return checkpoints.best(results, rule["metric"], rule["goal"], without=hidden)
