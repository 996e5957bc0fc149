"""Can a job's whole log be had as a file, in one go or in parts?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.logs import whole_log
from cluster.logs.log_files import path_of
from cluster.logs.log_store import JobLog
from cluster.logs.whole_log import LogWasTrimmed, WholeLog
from django.conf import settings
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from jobs.models import Job
from tests.service.results.test_outputs import content


def write(job: Job, worker: int, *texts: str, second: int = 0) -> None:
    path = path_of(f"{job.id}-1-{worker}", job_id=job.id, state_dir=settings.CONCERTINA.state_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for number, text in enumerate(texts):
            file.write(f"2026-11-21T07:33:{second + number:02}.000000Z stdout {text}\n")


def log_file(api: APIClient, job: Job, worker: str | None = None, **headers: str) -> Any:
    asked = {} if worker is None else {"worker": worker}
    return api.get(f"/api/v1/jobs/{job.id}/logs/file", asked, headers=headers)


def test_the_whole_log_comes_as_an_attachment(api: APIClient, job: Job) -> None:
    write(job, 1, *[f"line {number}" for number in range(60)] * 20)
    write(job, 2, "early")
    answer = log_file(api, job)
    found = content(answer)
    assert found.count(b"\n") == 1201  # more than a list has
    assert int(answer.headers["Content-Length"]) == len(found)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="digits.log"'
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"


def test_one_worker_can_be_asked_for(api: APIClient, job: Job) -> None:
    write(job, 1, "mine")
    write(job, 2, "yours")
    answer = log_file(api, job, f"{job.id}-1-1")
    said = f"{job.id}-1-1 2026-11-21T07:33:00.000000Z stdout mine\n"
    assert content(answer).decode() == said
    assert answer.headers["Content-Disposition"] == 'attachment; filename="digits-1-1.log"'
    assert content(log_file(api, job, "nobody")) == b""
    refused = log_file(api, job, "../etc/passwd")
    assert (refused.status_code, refused.json()["details"][0]["field"]) == (400, "worker")


def test_a_download_that_broke_off_goes_on(api: APIClient, job: Job) -> None:
    write(job, 1, "one", "three")
    write(job, 2, "two", second=1)
    answer = log_file(api, job)
    etag, found = answer.headers["ETag"], content(answer)
    rest = log_file(api, job, **{"Range": "bytes=40-", "If-Range": etag})
    assert (rest.status_code, content(rest)) == (206, found[40:])
    assert rest.headers["Content-Range"] == f"bytes 40-{len(found) - 1}/{len(found)}"
    assert log_file(api, job, Range="bytes=9999-").status_code == 416
    assert log_file(api, job, **{"If-None-Match": etag}).status_code == 304
    write(job, 1, "more")
    anew = log_file(api, job, **{"Range": "bytes=40-", "If-Range": etag})
    assert (anew.status_code, len(content(anew)) > len(found)) == (200, True)


def test_what_is_dropped_between_two_looks_is_left_out(
    api: APIClient, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(job, 1, "dropped")
    write(job, 2, "kept")
    gone = path_of(f"{job.id}-1-1", job_id=job.id, state_dir=settings.CONCERTINA.state_dir)
    look = whole_log.whole_log

    def then_dropped(log: JobLog) -> WholeLog:
        found = look(log)
        gone.unlink(missing_ok=True)
        return found

    monkeypatch.setattr("control_plane.api.results.log_files.whole_log", then_dropped)
    assert content(log_file(api, job)).endswith(b"kept\n")


def test_what_goes_at_each_look_is_tried_again_later(
    api: APIClient, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(job, 1, "dropped")

    def gone(_: WholeLog) -> int:
        raise LogWasTrimmed

    monkeypatch.setattr(WholeLog, "size", property(gone))
    answer = log_file(api, job)
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert answer.headers["Retry-After"] == "5"


def test_nobody_has_a_log_read_beyond_their_streams(
    api: APIClient, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To know how long it is takes reading all of it, whatever part is asked for."""
    write(job, 1, "text")
    for _ in range(10):  # each gives its slot back
        assert log_file(api, job, Range="bytes=99999-").status_code == 416
    monkeypatch.setattr("control_plane.api.logs.stream_slots.MOST_OF_ONE", 0)
    url = f"/api/v1/jobs/{job.id}/logs/file"
    assert log_file(api, job, Range="bytes=99999-").status_code == 429
    assert api.head(url).status_code == 429


def test_it_costs_the_statements_of_looking_at_the_job(
    api: APIClient, job: Job, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    write(job, 1, *["text"] * 5000)
    with django_assert_max_num_queries(3):
        assert log_file(api, job).status_code == 200
