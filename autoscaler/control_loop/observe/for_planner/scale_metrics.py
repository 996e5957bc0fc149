"""On which metric does a job scale, and what did it log of it last?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import F

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.planning.snapshot.cluster_state import MetricTarget
from jobs.models import MetricPoint

Values = Mapping[str, float | None]


def newest_values(views: Iterable[LiveJob]) -> Mapping[str, Values]:
    """Return what jobs that scale on a metric logged last in their present generation, by job id.

    Values of other generations speak of other sizes.
    """
    asking = [view.id for view in views if view.spec.elastic.scale_on]
    points = MetricPoint.objects.filter(job__in=asking, generation=F("job__generation"))
    newest = points.exclude(values={}).order_by("job", "-step").distinct("job")
    return dict(newest.values_list("job", "values")) if asking else {}


def reported(values: Values) -> tuple[tuple[str, float], ...]:
    """Return those that are numbers, as the planner reads them."""
    return tuple((name, value) for name, value in sorted(values.items()) if value is not None)


def scale_on(view: LiveJob) -> MetricTarget | None:
    rule = view.spec.elastic.scale_on
    if rule is None:
        return None
    return MetricTarget(
        metric=rule.metric, grow_above=rule.grow_above, shrink_below=rule.shrink_below
    )
