"""What would become of a job that somebody thinks of submitting, as far as they may know it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.utils import timezone
from tenancy.access.principal import Principal

from autoscaler.planning.decisions.plan import Action
from control_plane.configuration.team_visibility import TeamVisibility
from control_plane.queries.visibility import sees_numbers_of
from jobs.models import Job
from jobs.queries.limits_of_use import limits_of_its_teams
from jobs.spec.job_spec import JobSpec

if TYPE_CHECKING:
    from autoscaler.predictions.outlook import SubmissionOutlook

_OF_A_TEAM_ABOVE: Final = "A limit of a team above its own is used up. Ask an admin to raise it."


def look_ahead(job: Job, spec: JobSpec, principal: Principal) -> SubmissionOutlook:
    """Ask the planner for a job that is not stored; of one that is held back it knows nothing."""
    from autoscaler.predictions.outlook import (  # noqa: PLC0415 - the planner takes much memory
        OutlookReader,
        SubmissionOutlook,
        outlook_of,
    )

    for limit in limits_of_its_teams(job):
        if limit.is_used_up:
            is_told = limit.team is None or sees_numbers_of(principal, limit.team)
            return SubmissionOutlook(
                action=Action.WAIT, message=limit.message if is_told else _OF_A_TEAM_ABOVE
            )
    reader = OutlookReader(
        team=job.team.name,
        shows_others=settings.CONCERTINA.teams_see != TeamVisibility.OWN,
        is_admin=principal.is_admin,
    )
    return outlook_of(job, spec, reader, timezone.now())
