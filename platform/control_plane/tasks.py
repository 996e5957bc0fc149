"""What is done now and then in the background, outside the control loop?"""

from __future__ import annotations

import logging
from typing import Final

from celery import shared_task
from cluster import retention as cluster_retention
from django.utils import timezone

from autoscaler.control_loop import retention as control_loop_retention
from autoscaler.what_if import retention as what_if_retention
from jobs.commands import retention as jobs_retention

logger: Final = logging.getLogger(__name__)


@shared_task(name="control_plane.tasks.forget_what_is_old")
def forget_what_is_old() -> None:
    """Delete old histories, a bounded number of rows at a time; the next run goes on."""
    deleted = {
        **jobs_retention.delete_old(),
        **cluster_retention.delete_old(),
        **control_loop_retention.delete_old(),
        **what_if_retention.delete_old(),
    }
    logger.info(
        "Deleted %s old rows.", sum(deleted.values()), extra={"action": "retention", **deleted}
    )


@shared_task(name="control_plane.tasks.look_ahead")
def look_ahead() -> None:
    """Predict when every job starts and finishes. Bounded in cost; no tick waits for it."""
    from autoscaler.foresight import look_ahead as foresight  # noqa: PLC0415 - it loads scipy

    foresight.look_ahead(timezone.now())
