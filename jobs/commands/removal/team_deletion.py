"""What goes with a team that is deleted, and what keeps it from being deleted?

Its jobs go as if each were deleted, then the team with its members' places, quotas, tokens,
secrets, models, schedules, uploaded data and rules. The GPU time of its jobs stays in the sums,
under its name.
"""

from __future__ import annotations

from typing import Final

from django.db.models import QuerySet
from storage.models import DataSnapshot
from tenancy.models import Team

from jobs.commands.removal import job_deletion
from jobs.errors import TeamInUse
from jobs.lifecycle import LIVE
from jobs.models import GpuClaim, Job

JOBS_AT_ONCE: Final = 50
MOST_NAMED: Final = 20


def reasons_against(team: Team) -> list[str]:
    """Return a sentence for each thing that has to be dealt with first; of many, the newest."""
    jobs = Job.objects.filter(team=team)
    live, over = jobs.filter(state__in=LIVE), jobs.exclude(state__in=LIVE)
    pinned = over.filter(is_pinned=True)
    holding = over.filter(pk__in=GpuClaim.objects.values("worker__job"))
    return [
        *(f"Job {job.name} ({job.pk}) is {job.state}: cancel it." for job in _named(live)),
        *(f"Job {job.name} ({job.pk}) is pinned: unpin it." for job in _named(pinned)),
        *(
            f"Job {job.name} ({job.pk}) ended, but its processes still hold GPUs:"
            " try again in a minute."
            for job in _named(holding)
        ),
        *(f"Team {child} is below it: give it another parent." for child in team.children.all()),
    ]


def contents(team: Team) -> list[str]:
    """Say what would go."""
    return [
        f"{Job.objects.filter(team=team).count()} jobs, with their logs and checkpoints",
        f"{team.memberships.count()} members' places (the people stay)",
        f"{team.quotas.count()} quotas",
        f"{team.tokens.count()} tokens",
        f"{team.secrets.count()} secrets",
        f"{team.models.count()} models, with all versions",
        f"{team.schedules.count()} schedules",
        f"{DataSnapshot.objects.filter(team=team).count()} folders of uploaded data",
        f"{team.image_rules.count()} image rules of its own",
    ]


def delete_team(team: Team) -> None:
    """Delete the team, job by job; the next try goes on where one was interrupted.

    Raises:
        TeamInUse: a job of it lives or is pinned, or a team is below it.
    """
    if reasons := reasons_against(team):
        raise TeamInUse(" ".join(reasons))
    jobs = Job.objects.filter(team=team).order_by("pk").values_list("pk", flat=True)
    while ids := list(jobs[:JOBS_AT_ONCE]):
        if not job_deletion.erase(ids):
            raise TeamInUse("Processes of its jobs still hold GPUs. Try again in a minute.")
    team.delete()


def _named(jobs: QuerySet[Job]) -> QuerySet[Job]:
    return jobs.order_by("-submitted_at")[:MOST_NAMED]
