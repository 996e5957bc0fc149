"""Which address under /api/v1 leads to which endpoint about one job?"""

from __future__ import annotations

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from jobs.api import dependencies, single


class JobIdConverter(StringConverter):
    """Letters and digits: anything else is no job, and need not reach the database."""

    regex = "[0-9a-z]{1,12}"


register_converter(JobIdConverter, "job")
urlpatterns = [
    path("jobs/<job:job_id>/cancel", single.CancelView.as_view()),
    path("jobs/<job:job_id>/pause", single.PauseView.as_view()),
    path("jobs/<job:job_id>/resume", single.ResumeView.as_view()),
    path("jobs/<job:job_id>/pin", single.PinView.as_view()),
    path("jobs/<job:job_id>/unpin", single.UnpinView.as_view()),
    path("jobs/<job:job_id>/events", single.EventsView.as_view()),
    path("jobs/<job:job_id>/generations", single.GenerationsView.as_view()),
    path("jobs/<job:job_id>/workers", single.WorkersView.as_view()),
    path("jobs/<job:job_id>/metrics", single.MetricsView.as_view()),
    path("jobs/<job:job_id>/usage", single.UsageView.as_view()),
    path("jobs/<job:job_id>/dependencies", dependencies.DependenciesView.as_view()),
]
