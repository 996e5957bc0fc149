"""Which of a job's checkpoints does somebody mean, and who still needs it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from storage.errors import CheckpointInUse, CheckpointUnknown
from storage.results import checkpoints, unwanted
from storage.results.checkpoints import Checkpoint, Which
from storage.results.places import Results

from jobs.lifecycle import LIVE
from jobs.models import Job

LATEST: Final = "latest"
BEST: Final = "best"


def find(job: Job, results: Results, which: str) -> Checkpoint:
    """Find a checkpoint by its step in digits, as `latest`, or as `best`.

    Raises:
        CheckpointUnknown: there is none.
    """
    hidden = unwanted.paths(results)
    if which != BEST:
        step: Which = LATEST if which == LATEST else int(which)
        return checkpoints.find(results, step, without=hidden)
    rule = _best_of(job.resolved_spec)
    if rule is None:
        raise CheckpointUnknown(
            "The job does not say which checkpoint is the best: its spec has no"
            " checkpoint.keep_best. Name a step, or latest."
        )
    return checkpoints.best(results, rule["metric"], rule["goal"], without=hidden)


def check_unneeded(job: Job, results: Results, found: Checkpoint) -> None:
    """Raises: CheckpointInUse."""
    if job.state not in LIVE:
        return
    newest = checkpoints.find(results, LATEST, without=unwanted.paths(results))
    if newest.name == found.name:
        raise CheckpointInUse(
            "The job lives, and would go on from its newest checkpoint. Delete an older one, or"
            " wait until the job has ended."
        )


def _best_of(resolved_spec: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return `keep_best`; jobs of an earlier release have none."""
    rule: Mapping[str, Any] | None = resolved_spec.get("checkpoint", {}).get("keep_best")
    return rule
