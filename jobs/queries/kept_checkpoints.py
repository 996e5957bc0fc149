"""Who still needs a checkpoint of a job?"""

from __future__ import annotations

from django.db.models import QuerySet
from storage.errors import CheckpointInUse
from storage.models import HeldCheckpoint
from storage.results import checkpoints, unwanted
from storage.results.checkpoints import WholeCheckpoint
from storage.results.folders import Results

from jobs.lifecycle import LIVE
from jobs.models import Job


def check_unneeded(job: Job, results: Results, found: WholeCheckpoint) -> None:
    """Raises: CheckpointInUse."""
    if _wanted(job.id).filter(step=found.step).exists():
        raise CheckpointInUse(
            "It is about to be kept for a job that starts from it, or for a model. Try again in a"
            " few seconds."
        )
    if job.state not in LIVE:
        return
    newest = checkpoints.find(results, "latest", without=unwanted.paths(results))
    if newest.name == found.name:
        raise CheckpointInUse(
            "The job lives, and would go on from its newest checkpoint. Delete an older one, or"
            " wait until the job has ended."
        )


def check_none_wanted(job_id: str) -> None:
    """Raises: CheckpointInUse, while one is still to be handed to another job."""
    if _wanted(job_id).exists():
        raise CheckpointInUse(
            "A checkpoint of this job is about to be kept for a job that starts from it, or for a"
            " model. Try again in a few seconds."
        )


def _wanted(job_id: str) -> QuerySet[HeldCheckpoint]:
    state = HeldCheckpoint.State.WANTED
    return HeldCheckpoint.objects.filter(source_job=job_id, state=state)
