"""Which address under /api/v1 leads to which endpoint about one job, or about an array of jobs?"""

from __future__ import annotations

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from jobs.api import single
from jobs.api.relations import arrays, dependencies


class JobIdConverter(StringConverter):
    """Letters and digits: anything else is no job, and need not reach the database."""

    regex = "[0-9a-z]{1,12}"


register_converter(JobIdConverter, "job")
urlpatterns = [
    path("arrays", arrays.ArraysView.as_view()),
    path("arrays/<job:array_id>", arrays.ArrayView.as_view()),
    path("arrays/<job:array_id>/cancel", arrays.CancelArrayView.as_view()),
    path("arrays/<job:array_id>/pause", arrays.PauseArrayView.as_view()),
    path("arrays/<job:array_id>/resume", arrays.ResumeArrayView.as_view()),
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
