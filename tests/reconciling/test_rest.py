"""Which jobs are at rest, and until when? Wherever a rule would do something, none is.

The search compares both in every world that it reaches: see `small_ticks`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from autoscaler.reconciling.rest import rests_until
from autoscaler.reconciling.snapshot import DiskUse, Notices, SignsOfLife
from jobs.admission.disk_limits import TeamDisk
from jobs.lifecycle import JobState
from tests.reconciling.builders import (
    NOW,
    ago,
    assignment,
    coordinator,
    ended,
    gone,
    job,
    preparing,
    process,
    spent,
    unheard,
    worker,
)

if TYPE_CHECKING:
    from autoscaler.reconciling.snapshot import JobSnapshot

TRAINING = job(worker("w1"), worker("w2"))

RESTLESS: dict[str, JobSnapshot] = {
    "one that starts": replace(TRAINING, state=JobState.STARTING),
    "one that is stopped": replace(TRAINING, state=JobState.STOPPING),
    "a worker has ended": job(ended("w1"), worker("w2")),
    "a wanted worker is gone": job(gone("w1"), worker("w2")),
    "a worker is prepared": job(worker("w1", process=preparing()), worker("w2")),
    "a worker is slow": job(worker("w1", is_straggler=True), worker("w2")),
    "a worker hangs": job(worker("w1", is_given_up=True), worker("w2")),
    "a node is silent": job(unheard("w1", since=ago(5)), worker("w2")),
    "a worker is to leave": job(worker("w1"), worker("w2"), assignment=assignment("w1")),
    "its coordinator has ended": job(
        worker("w1"), coordinator=coordinator(process=process("coordinator", exit_code=1))
    ),
    "it failed too often": replace(TRAINING, failures=100),
    "its disk is full": replace(TRAINING, disk=DiskUse(disk_bytes=1 << 60, disk_files=1)),
    "its team's disk is full": replace(
        TRAINING,
        disk=DiskUse(disk_bytes=1 << 30, disk_files=1, bytes_within=0),
        context=replace(
            TRAINING.context, team_disk=TeamDisk(team="vision", bytes_=2, most_bytes=1)
        ),
        notices=Notices(disk_start=TRAINING.starts),
    ),
    "its team has used up its budget": replace(
        TRAINING, context=replace(TRAINING.context, used_up_budget=spent())
    ),
    "it does nothing": replace(TRAINING, idle_since=ago(5)),
    "it does something again": replace(TRAINING, notices=Notices(idle_since=ago(5))),
    "it never trained": replace(TRAINING, generation=None),
}


@pytest.mark.parametrize("what", RESTLESS, ids=lambda name: name.replace(" ", "_"))
def test_a_job_is_not_at_rest_where(what: str) -> None:
    assert rests_until(RESTLESS[what]) is None


def test_a_job_that_trains_is_at_rest_until_its_silence_is_looked_into() -> None:
    quiet = replace(TRAINING, life=SignsOfLife(progress_at=ago(60)))
    until = rests_until(quiet)
    assert until == ago(60) + timedelta(seconds=TRAINING.limits.progress_timeout / 2)
    lived_on = replace(TRAINING, life=SignsOfLife(progress_at=NOW))
    assert rests_until(lived_on) == until + timedelta(seconds=60)


def test_workers_that_left_before_do_not_keep_it_from_rest() -> None:
    left = gone("w0", exit_code=0)
    killed = gone("w0", exit_code=-9, failing="out_of_memory")
    assert rests_until(job(left, worker("w1"), assignment=assignment("w1"))) is not None
    assert rests_until(job(killed, worker("w1"), assignment=assignment("w1"))) is None
