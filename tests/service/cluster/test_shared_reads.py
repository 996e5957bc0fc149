"""Is what all viewers of a cluster ask for read once for all of them, and sent once to each?"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Final

import pytest
from control_plane.web.repeated.shared_reads import SHARED, SharedReads
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoCaptureOnCommitCallbacks
from rest_framework.test import APIClient
from tenancy.access.principal import Principal
from tenancy.models import Team

from tests.service.conftest import SubmitJob, client_of

TEAMS: Final = "/api/v1/teams"
PATHS: Final = (
    "/api/v1/jobs?state=running&state=queued",
    TEAMS,
    "/api/v1/pools",
    "/api/v1/cluster/summary?hours=24",
    "/api/v1/cluster/utilisation?minutes=60",
)
LONG: Final = 1000.0
ADA: Final = Principal(name="ada", seen={})
ADMIN: Final = Principal(name="root", seen={}, is_admin=True)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SHARED, "_questions", OrderedDict())
    monkeypatch.setattr(SHARED, "seconds", LONG)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("path", PATHS)
def test_of_two_viewers_of_a_team_one_reads(
    api: APIClient,
    vision: Team,
    path: str,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    other = client_of(vision)
    committing = django_capture_on_commit_callbacks
    with CaptureQueriesContext(connection) as of_first, committing(execute=True):
        first = api.get(path)
    with CaptureQueriesContext(connection) as of_second, committing(execute=True):
        second = other.get(path)
    assert (first.status_code, second.content) == (200, first.content)
    about_the_token = ['"tenancy_token"' in one["sql"] for one in of_second]
    assert about_the_token == [True, True]  # whose it is, and that it was used
    assert len(of_first) > len(of_second)


@pytest.mark.usefixtures("shared")
def test_each_team_sees_its_own(api: APIClient, foreign_api: APIClient) -> None:
    mine = [
        {team["name"]: team["is_mine"] for team in client.get(TEAMS).json()["items"]}
        for client in (api, foreign_api)
    ]
    assert mine == [{"language": False, "vision": True}, {"language": True, "vision": False}]


def test_a_team_sees_nothing_of_one_that_bore_its_name() -> None:
    reads = SharedReads(seconds=LONG)
    teams: list[dict[str, Team]] = [{"vision": Team(pk=pk)} for pk in (1, 2)]
    former, present = (Principal(name="ci", seen=own) for own in teams)
    seen = [reads.read("jobs", by=by, read=lambda by=by: by.seen_ids) for by in (former, present)]
    assert seen == [[1], [2]]


@pytest.mark.usefixtures("shared")
def test_whoever_changes_something_sees_it_at_once(api: APIClient, submit: SubmitJob) -> None:
    def waiting() -> int:
        return sum(team["waiting_jobs"] for team in api.get(TEAMS).json()["items"])

    job = submit()
    assert waiting() == 1
    assert api.post(f"/api/v1/jobs/{job.id}/cancel").status_code == 202
    assert waiting() == 0


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("path", PATHS)
def test_what_others_change_all_the_time_does_not_make_a_viewer_read_alone(
    api: APIClient, vision: Team, submit: SubmitJob, path: str
) -> None:
    viewer = client_of(vision, name="viewer")
    viewer.get(path)
    with CaptureQueriesContext(connection) as alone:
        first = viewer.get(path)
    job = submit()
    assert api.post(f"/api/v1/jobs/{job.id}/cancel").status_code == 202
    with CaptureQueriesContext(connection) as beside_a_change:
        assert viewer.get(path).content == first.content
    assert len(beside_a_change) == len(alone)
    seen = api.get(path).content  # by whoever changed it
    assert viewer.get(path).content == seen


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_that_is_there_already_is_not_sent_again(
    api: APIClient, vision: Team, path: str
) -> None:
    first = api.get(path)
    again = api.get(path, headers={"If-None-Match": first.headers["ETag"]})
    if "summary" not in path:  # whose sums move with time
        assert (again.status_code, again.content) == (304, b"")
    Team.objects.filter(pk=vision.pk).update(name="renamed")
    other = api.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert other.status_code == (304 if other.headers["ETag"] == first.headers["ETag"] else 200)
    assert first.headers["Cache-Control"] == "private, no-cache"


def test_something_is_shared_for_a_moment_and_only_among_those_who_may_see_the_same() -> None:
    clock, reads = iter((0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0)), count()
    shared = SharedReads(seconds=1.0, clock=lambda: next(clock))

    def read(by: Principal) -> int:
        return shared.read("what", by=by, read=lambda: next(reads))

    assert [read(ADA), read(ADA), read(ADMIN), read(ADA)] == [0, 0, 1, 2]


def test_what_failed_is_not_shared() -> None:
    shared = SharedReads(seconds=LONG)
    with pytest.raises(ZeroDivisionError):
        shared.read("what", by=ADA, read=lambda: 1 // 0)
    assert shared.read("what", by=ADA, read=lambda: 1) == 1


def test_of_many_questions_only_so_many_are_remembered() -> None:
    shared, reads = SharedReads(seconds=LONG, most=2), count()

    def read(what: int) -> int:
        return shared.read(what, by=ADA, read=lambda: next(reads))

    assert [read(what) for what in (1, 2, 3, 3, 2, 1)] == [0, 1, 2, 2, 1, 3]


def test_an_answer_is_forgotten_when_its_moment_is_over() -> None:
    moments = iter((0.0, 0.0, 0.5, 0.5, 1.0, 1.0))
    shared, remembered = SharedReads(seconds=1.0, clock=lambda: next(moments)), []
    for what in (1, 2, 3):
        shared.read(what, by=ADA, read=lambda: "much")
        remembered.append(len(shared))
    assert remembered == [1, 2, 2]


def test_whoever_comes_while_somebody_reads_waits_and_gets_what_was_read_after_a_change() -> None:
    """Two come during a read that their change makes stale: one of them reads, for both."""
    ticks, called, released = count(), threading.Semaphore(0), threading.Event()
    reads = count()

    def clock() -> float:
        called.release()
        return float(next(ticks))

    def slow() -> int:
        assert released.wait(LONG)
        return next(reads)

    shared = SharedReads(seconds=LONG, clock=clock)

    def came(times: int) -> None:
        for _ in range(times):
            assert called.acquire(timeout=LONG)

    ask: Callable[[], int] = lambda: shared.read("what", by=ADA, read=slow)  # noqa: E731
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(ask)
        came(2)  # it asked when it came, and when it began
        others = [pool.submit(ask), pool.submit(ask)]
        came(2)
        shared.note_change(ADA.name)
        released.set()
        assert (first.result(), [other.result() for other in others]) == (0, [1, 1])
