"""What does the planner learn of a user's wishes? Deadline, utility, and the metric to scale on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from django.db.models import F

from autoscaler.control_loop.job_view import JobView
from autoscaler.planning import cluster_state as planning
from jobs.models import MetricPoint

Values = Mapping[str, float | None]


def newest_values(views: Iterable[JobView]) -> Mapping[str, Values]:
    """What jobs that scale on a metric logged last in their present generation, by job id.

    Values of other generations speak of other sizes.
    """
    asking = [view.id for view in views if view.spec.elastic.scale_on]
    points = MetricPoint.objects.filter(job__in=asking, generation=F("job__generation"))
    newest = points.exclude(values={}).order_by("job", "-step").distinct("job")
    return dict(newest.values_list("job", "values")) if asking else {}


def with_wishes(job: planning.Job, view: JobView, values: Values) -> planning.Job:
    """The job as its user wants it treated."""
    spec = view.spec
    return replace(
        job,
        deadline=spec.deadline.timestamp() if spec.deadline else None,
        requested_workers=spec.elastic.requested_workers,
        utility=_utility(view),
        scale_on=_scale_on(view),
        reported=tuple((name, v) for name, v in sorted(values.items()) if v is not None),
    )


def _utility(view: JobView) -> planning.Utility | None:
    points = view.spec.utility
    if points is None:
        return None
    return planning.Utility(points=tuple((point.after, point.dollars) for point in points))


def _scale_on(view: JobView) -> planning.ScaleOn | None:
    rule = view.spec.elastic.scale_on
    if rule is None:
        return None
    return planning.ScaleOn(
        metric=rule.metric, grow_above=rule.grow_above, shrink_below=rule.shrink_below
    )
