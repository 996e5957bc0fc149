"""Who speaks for a job? Its coordinator of this term, for a while; none of its workers."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from jobs.models import Job, Worker
from jobs.reports import job_token
from tests.service.syncing import report, sync, token_of


def test_the_workers_token_does_not_open_the_sync(job: Job, workers: list[Worker]) -> None:
    answer = sync(job, report(), token=job_token.of_workers(job.id))
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")


def test_a_coordinator_started_when_there_was_one_token_is_heard_to_its_end(
    job: Job, workers: list[Worker]
) -> None:
    Job.objects.filter(pk=job.pk).update(takes_workers_token=True)
    assert sync(job, report(), token=job_token.of_workers(job.id)).status_code == 200
    Job.objects.filter(pk=job.pk).update(takes_workers_token=False)
    assert sync(job, report(), token=job_token.of_workers(job.id)).status_code == 401


def test_a_token_speaks_for_its_own_term_whatever_the_report_says(
    job: Job, workers: list[Worker]
) -> None:
    Job.objects.filter(pk=job.pk).update(coordinator_term=2)
    for term in (1, 3):
        answer = sync(job, report(term=2), token=token_of(job, term))
        assert (answer.status_code, answer.json()["code"]) == (409, "coordinator_replaced")
    assert sync(job, report(term=2)).status_code == 200


def test_a_token_that_has_expired_opens_nothing(job: Job, workers: list[Worker]) -> None:
    made = timezone.now() - job_token.LIFETIME
    old = job_token.of_coordinator(job.id, term=0, now=made)
    assert sync(job, report(), token=old).status_code == 401
    older_by_less = job_token.of_coordinator(job.id, term=0, now=made + timedelta(hours=1))
    assert sync(job, report(), token=older_by_less).status_code == 200


def test_a_token_is_renewed_long_before_it_expires(job: Job, workers: list[Worker]) -> None:
    assert "token" not in sync(job, report()).json()
    yesterday = timezone.now() - job_token.RENEWED_AFTER
    answer = sync(job, report(), token=job_token.of_coordinator(job.id, term=0, now=yesterday))
    renewed = answer.json()["token"]
    later = yesterday + job_token.LIFETIME
    assert job_token.read(renewed, job.id, now=later) is not None
    assert sync(job, report(), token=renewed).status_code == 200
