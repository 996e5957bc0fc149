"""Does a new release know of live jobs what the former one asked of their events?"""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any, Final

import pytest
from django.db import connection
from django.utils import timezone

from jobs.models import Event, Job, Worker

MIGRATION: Final = import_module("jobs.migrations.0027_fill_what_events_told")


def fill() -> None:
    with connection.cursor() as cursor:
        for statement in MIGRATION.STATEMENTS:
            cursor.execute(statement)


def event(job: Job, kind: str, minutes_ago: float, **fields: Any) -> Event:
    made = Event.objects.create(job=job, kind=kind, **fields)
    made.at = timezone.now() - timedelta(minutes=minutes_ago)
    made.save()
    return made


def test_columns_are_filled_with_what_events_tell(job: Job, workers: list[Worker]) -> None:
    first, second = workers[:2]
    state = Job.objects.get(pk=job.pk).state
    node = first.named_node
    event(job, "state_changed", 30, new_state=state)
    since = event(job, "state_changed", 20, new_state=state).at
    event(job, "coordinator_restarted", 25)
    event(job, "coordinator_restarted", 15)
    event(job, "preparing", 19, data={"attempt": 1, "revision": 3})
    event(job, "disk_filling", 18, data={"starts": 2})
    event(job, "planning_failed", 60 * 25)
    failed_at = event(job, "planning_failed", 17).at
    of_first = {"worker": first.id, "revision": 4, "log": ["ValueError"]}
    counted_at = event(job, "worker_failed", 16, data=of_first).at
    silent_at = event(job, "node_silent", 14, data={"node": node, "since": 1.0}).at
    slow_at = event(job, "node_is_slow", 13, data={"node": node}).at
    of_second = {"worker": second.id, "node": node, "gpus": [1, 2]}
    found_at = event(job, "straggler_found", 12, data=of_second).at
    fill()
    found = Job.objects.get(pk=job.pk)
    assert (found.state_since, found.coordinator_restarts) == (since, 1)
    assert (found.preparation_notice_revision, found.disk_notice_start) == (3, 2)
    assert (found.planning_failures, found.planning_failed_at) == (1, failed_at)
    one, other = (Worker.objects.get(pk=worker.pk) for worker in (first, second))
    assert (one.counted_at, one.counted_revision) == (counted_at, 4)
    assert (one.last_lines, other.last_lines) == (["ValueError"], [])
    assert (one.silence_notice_at, one.slowness_notice_at) == (silent_at, slow_at)
    assert (other.straggler_found_at, other.straggler_gpus) == (found_at, [1, 2])
    assert (other.counted_at, one.straggler_found_at) == (None, None)


@pytest.mark.usefixtures("workers")
def test_of_a_job_without_events_nothing_is_known(job: Job) -> None:
    Event.objects.all().delete()
    before = Job.objects.filter(pk=job.pk).values().get()
    fill()
    assert Job.objects.filter(pk=job.pk).values().get() == before
