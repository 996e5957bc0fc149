"""Does the command line tell how many workers a job needed?"""

from __future__ import annotations

import shlex
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.models import Generation, Job, Measurement
from tests.client.command_line import CommandLine
from tests.client.conftest import JOB
from tests.client.running_api import RunningApi


@pytest.fixture
def ran(api: RunningApi, concertina: CommandLine) -> Job:
    """A job that trained an hour with 1 worker, and five with 4, which were hardly faster."""
    submitted = concertina("submit", "-f", "-", "-o", "json", stdin=JOB)
    job = Job.objects.get(pk=submitted.document["id"])
    at = timezone.now() - timedelta(hours=6)
    for number, (workers, hours, seconds) in enumerate(((1, 1, 1.0), (4, 5, 0.9)), start=1):
        Generation.objects.create(
            job=job,
            number=number,
            attempt=1,
            revision=number,
            workers=workers,
            worker_ids=[],
            global_batch_size=64,
            reason="rescaled",
            began_at=at,
            ended_at=at + timedelta(hours=hours),
        )
        Measurement.objects.create(
            job=job,
            gpu_type=job.pool.gpu_type,
            workers=workers,
            global_batch_size=64,
            steps=500,
            step_seconds=seconds,
        )
        at += timedelta(hours=hours)
    Job.objects.filter(pk=job.pk).update(state="completed", finished_at=at)
    return job


def test_advice_is_a_table_a_sentence_and_the_command_that_follows_it(
    concertina: CommandLine, ran: Job
) -> None:
    told = concertina("advice", "digits")
    assert "1 knee" in told.out
    assert "Beyond 1 worker it wastes" in told.err
    assert f"concertina rerun {ran.pk} --set elastic.min_workers=1" in told.err
    found = concertina("advice", ran.pk, "-o", "json").document
    assert (found["verdict"], found["suggested"]["max_workers"]) == ("fewer", 1)


def test_the_command_that_follows_it_can_be_pasted_whatever_the_spec_allows(
    concertina: CommandLine, ran: Job
) -> None:
    elastic = {**ran.resolved_spec["elastic"], "allowed_workers": [1, 2, 4], "requested_workers": 4}
    spec = {**ran.resolved_spec, "elastic": {**elastic, "min_workers": 1, "max_workers": 4}}
    Job.objects.filter(pk=ran.pk).update(resolved_spec=spec)
    told = " ".join(concertina("advice", ran.pk).err.split())
    command = shlex.split(told.partition("Run it again so: concertina ")[2])
    assert "elastic.allowed_workers=[1]" in command
    assert "elastic.requested_workers=1" in command
    assert concertina(*command).exit_code == 0


def test_where_too_little_was_measured_it_says_so(concertina: CommandLine, ran: Job) -> None:
    Measurement.objects.filter(workers=4).delete()
    told = concertina("advice", "digits")
    assert "with 1 worker only" in told.err
    assert "rerun" not in told.err
    assert concertina("advice", "nobody").exit_code == 4
