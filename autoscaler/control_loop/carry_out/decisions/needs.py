"""What do decisions need to know that the views do not show? Read once for all of a plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from autoscaler.control_loop.observe.jobs.names import worker_ids
from jobs.lifecycle import ACTIVE, JobState
from jobs.models import Job, Worker


class Needs:
    """What jobs need that are to start or to change."""

    def __init__(self, job_ids: Collection[str]) -> None:
        self._job_ids = job_ids

    def new_worker_ids(self, job_id: str, *, attempt: int, count: int, epoch: int) -> Sequence[str]:
        """Names for workers that no worker of the job has ever had."""
        used = self._used.get(job_id, ())
        return worker_ids(job_id, attempt=attempt, used=used, count=count, epoch=epoch)

    @cached_property
    def promised_ports(self) -> set[int]:
        """Ports of all coordinators; whoever promises another one adds it."""
        holders = Job.objects.filter(state__in=[*ACTIVE, JobState.STOPPING])
        ports = holders.values_list("coordinator_port", flat=True)
        return {port for port in ports if port is not None}

    @cached_property
    def _used(self) -> Mapping[str, list[str]]:
        used: dict[str, list[str]] = defaultdict(list)
        rows = Worker.objects.filter(job__in=self._job_ids).order_by()
        for job_id, worker_id in rows.values_list("job_id", "id"):
            used[job_id].append(worker_id)
        return used
