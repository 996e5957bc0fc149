"""Is a spec still read that an earlier version accepted, or that a hand changed?"""

from __future__ import annotations

from typing import Any

import pytest

from jobs.changes import batch_limit
from jobs.models import Job
from jobs.spec import stored_spec
from jobs.spec.batch import LARGEST_BATCH
from jobs.spec.job_spec import parse
from tests.service.conftest import SubmitJob, spec


def resolved(**changes: Any) -> dict[str, Any]:
    document = parse(spec(elastic={"max_workers": 4, "grace_period": "2m"})).resolved(
        team="vision", pool="default"
    )
    return {**document, **changes}


def test_what_is_out_of_bounds_becomes_the_nearest_that_is_in_them() -> None:
    document = resolved()
    document["batch"]["per_gpu_batch_size"]["max"] = 10**400
    document["resources"]["memory"] = "999999TiB"
    document["resources"]["cpus"] = 1e-9
    read = stored_spec.read(document)
    assert read.unreadable == ()
    assert read.spec.batch.max_per_worker == LARGEST_BATCH
    assert (read.spec.resources.memory, read.spec.resources.cpus) == (2**50, 0.01)
    assert read.spec.elastic.grace_period == 120.0


def test_what_cannot_be_read_stands_at_its_default_and_is_named() -> None:
    document = resolved(colour="red", priority="high", utility=[{"after": 1, "dollars": 1}])
    read = stored_spec.read(document)
    assert set(read.unreadable) == {"colour", "priority", "utility[0].after"}
    assert (read.spec.priority, read.spec.utility) == (50, None)
    assert read.spec.elastic.max_workers == 4


@pytest.mark.parametrize(
    ("stored", "read_as"),
    [
        ("0001-01-01T00:00:00Z", "1970-01-01T00:00:00+00:00"),
        ("3000-01-01T04:00:00Z", "2999-12-31T23:59:59+00:00"),
        ("9999-12-31T23:59:59-12:00", "2999-12-31T23:59:59+00:00"),
    ],
)
def test_a_deadline_of_any_year_becomes_one_that_can_be_reckoned_with(
    stored: str, read_as: str
) -> None:
    read = stored_spec.read(resolved(deadline=stored))
    assert read.unreadable == ()
    assert read.spec.deadline is not None
    assert read.spec.deadline.isoformat() == read_as


@pytest.mark.parametrize("workdir", ["train", "./train", "/data/../train", "//train", "/a b/./c"])
def test_a_folder_that_was_accepted_once_stays_as_it_is(workdir: str) -> None:
    read = stored_spec.read(resolved(workdir=workdir))
    assert (read.unreadable, read.spec.workdir) == ((), workdir)


@pytest.mark.parametrize("workdir", ["../proc/self/fd/7", "/x/../proc", "/a\0b", 3, "x" * 4097])
def test_a_folder_that_was_never_safe_is_not_read(workdir: object) -> None:
    read = stored_spec.read(resolved(workdir=workdir))
    assert (read.unreadable, read.spec.workdir) == (("workdir",), None)


@pytest.mark.parametrize("deadline", ["soon", "0001-01-01T00:00:00", 5])
def test_what_is_no_moment_is_no_deadline(deadline: object) -> None:
    read = stored_spec.read(resolved(deadline=deadline))
    assert (read.unreadable, read.spec.deadline) == (("deadline",), None)


@pytest.mark.parametrize("document", [None, [], "text", {}, {"name": 3, "command": 7, "batch": 1}])
def test_reading_never_fails_whatever_is_stored(document: object) -> None:
    read = stored_spec.read(document)
    assert read.unreadable
    assert read.spec.command == ["false"]


def test_a_memory_limit_stored_before_there_was_a_bound_is_read_within_it(
    submit: SubmitJob,
) -> None:
    job = submit()
    job.resolved_spec["batch"]["per_gpu_batch_size"]["max"] = 10**21
    job.save()
    read = stored_spec.read_extent(Job.objects.get(pk=job.pk).resolved_spec)
    assert batch_limit.of(job, read.batch.max_per_worker) == LARGEST_BATCH
