"""Which jobs are kept for ever? Those that their team has pinned, up to a bound."""

from __future__ import annotations

from typing import Final

from django.db import transaction
from storage.data.job_outputs import source_of
from storage.errors import ResultIsData
from tenancy.audit import records
from tenancy.models import Team

from jobs.errors import JobNotFound, TooManyPinned
from jobs.models import Job

MOST_PINNED: Final = 100  # of one team; guessed: more than anybody compares with later


@transaction.atomic
def pin(*, job_id: str) -> None:
    """Keep a job, whatever its age.

    Raises:
        JobNotFound: there is no such job.
        TooManyPinned: as many others of its team are pinned as may be.
    """
    one_pin_at_a_time = Team.objects.select_for_update(no_key=True)
    team = one_pin_at_a_time.filter(jobs=job_id).first()
    if team is None:
        raise JobNotFound
    pinned = Job.objects.filter(team=team, is_pinned=True).exclude(pk=job_id).count()
    if pinned >= MOST_PINNED:
        raise TooManyPinned(
            f"Team {team.name} has {pinned} pinned jobs, and may have at most {MOST_PINNED},"
            " because they are kept for ever. Unpin some first."
        )
    Job.objects.filter(pk=job_id).update(is_pinned=True)
    records.note_change(after={"is_pinned": True})


def unpin(*, job_id: str) -> None:
    """Keep a job no longer than others.

    Raises:
        JobNotFound: there is no such job.
        ResultIsData: a source of data shows its outputs.
    """
    if (source := source_of(job_id)) is not None:
        raise ResultIsData(source.name)
    if not Job.objects.filter(pk=job_id).update(is_pinned=False):
        raise JobNotFound
    records.note_change(after={"is_pinned": False})
