"""What would become of a job that somebody thinks of submitting, as far as they may know it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone
from tenancy.access.principal import Principal

from control_plane.configuration.team_visibility import TeamVisibility
from jobs.models import Job
from jobs.spec.job_spec import JobSpec

if TYPE_CHECKING:
    from autoscaler.predictions.outlook import SubmissionOutlook


def look_ahead(job: Job, spec: JobSpec, principal: Principal) -> SubmissionOutlook:
    """Ask the planner for a job that is not stored."""
    from autoscaler.predictions.outlook import (  # noqa: PLC0415 - the planner takes much memory
        OutlookReader,
        outlook_of,
    )

    reader = OutlookReader(
        team=job.team.name,
        shows_others=settings.CONCERTINA.teams_see != TeamVisibility.OWN,
        is_admin=principal.is_admin,
    )
    return outlook_of(job, spec, reader, timezone.now())
