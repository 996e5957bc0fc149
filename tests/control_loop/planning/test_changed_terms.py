"""Does a change of a live job's spec count from the next tick on, and is it given as the reason?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning import planner
from jobs.admission.disk_limits import DiskLimits
from jobs.admission.pool_capacity import PoolCapacity
from jobs.commands import editing
from jobs.models import Assignment, Job
from tests.control_loop.world import World, fresh


def change(job: Job, changes: dict[str, Any]) -> list[str]:
    pool = PoolCapacity(
        pool_id=job.pool_id,
        name=job.pool.name,
        gpus=4,
        gpus_of_largest_node=4,
        disk_limits=DiskLimits(),
    )
    return editing.edit(job_id=job.id, changes=changes, pools=[pool], actor="ada")


SMALLER: dict[str, tuple[dict[str, Any], int]] = {
    "a smaller range": ({"max_workers": 2}, 2),
    "a list of sizes": ({"allowed_workers": [1, 3]}, 3),
}


@pytest.mark.parametrize("sentence", SMALLER)
def test_a_running_job_goes_to_what_it_may_have_now(world: World, sentence: str) -> None:
    elastic, workers = SMALLER[sentence]
    job = world.job()
    world.running(job, 4)
    change(job, {"elastic": elastic})
    replace(world, planner=planner.plan).tick()  # type: ignore[arg-type]
    newest = Assignment.objects.filter(job=job).latest("revision")
    assert (len(newest.worker_ids), newest.reason) == (workers, JobReason.TERMS_CHANGED)
    assert "somebody changed what it may have" in newest.message


def test_a_waiting_job_is_seen_as_it_was_changed(world: World) -> None:
    job = world.job()
    world.tick()
    assert world.planner.job(job).max_workers == 4
    change(job, {"elastic": {"max_workers": 3}, "priority": 60})
    world.tick()
    seen = world.planner.job(job)
    assert (seen.max_workers, seen.priority) == (3, 60)


def test_a_job_of_a_fixed_size_keeps_what_it_has_until_it_starts_again(world: World) -> None:
    job = world.job(elastic={"mode": "fixed"})
    world.running(job, 4)
    assert change(job, {"elastic": {"max_workers": 2}}) == [
        "Its mode is fixed: it keeps its workers and its batch until it starts again."
    ]
    before = fresh(job).revision
    replace(world, planner=planner.plan).tick()  # type: ignore[arg-type]
    assert fresh(job).revision == before
