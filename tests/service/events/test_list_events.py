"""Is GET /events as promised: nothing missed, nothing told twice, nothing of others?"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import pytest
from cluster.models import Node, Pool
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from jobs.changes import numbering
from jobs.changes.numbering import number_events
from jobs.models import Event, Job
from jobs.queries import event_feed
from jobs.queries.event_feed import FeedFilter
from tests.campaigns import rounds
from tests.service.conftest import SubmitJob, client_of, make_team, spec

WRITERS: Final = 4
STEPS: Final = 60
_INSERT: Final = (
    "INSERT INTO jobs_event (job_id, at, kind, old_state, new_state, reason, message, data)"
    " VALUES (%s, now(), 'idle', '', '', '', '', '{}') RETURNING id"
)


def page(client: APIClient, **query: Any) -> dict[str, Any]:
    answer = client.get("/api/v1/events", query)
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def told(client: APIClient, **query: Any) -> list[tuple[str, str]]:
    return [(item["job_name"], item["kind"]) for item in page(client, **query)["items"]]


class Reader:
    """Somebody who goes on behind the last that they were told."""

    def __init__(self, most: int) -> None:
        self.found: list[int] = []
        self._most = most
        self._position = 0

    def read(self) -> bool:
        """Read a page; True if there are more."""
        number_events()
        news = event_feed.page_after(self._position, FeedFilter(team_ids=None), most=self._most)
        self.found += [event.pk for event in news.events]
        self._position = news.reached
        return news.has_more


class Writer:
    """A transaction in a connection of its own, and the events that it will have written."""

    def __init__(self, connection: BaseDatabaseWrapper, job: Job) -> None:
        self._connection = connection
        self._job = job
        self.written: list[int] = []
        connection.set_autocommit(False)

    def write(self) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(_INSERT, [self._job.pk])
            self.written += [number for (number,) in cursor.fetchall()]

    def end(self, *, is_kept: bool) -> list[int]:
        (self._connection.commit if is_kept else self._connection.rollback)()
        ended, self.written = self.written, []
        return ended if is_kept else []


@contextmanager
def another_connection() -> Iterator[BaseDatabaseWrapper]:
    made = connection.copy()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def committed_job(transactional_db: None) -> Job:
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    client = client_of(make_team("vision", pool, guaranteed=2, limit=None))
    answer = client.post("/api/v1/jobs", spec(), format="json")
    assert answer.status_code == 201, answer.json()
    return Job.objects.get(pk=answer.json()["id"])


@pytest.mark.parametrize("seed", range(rounds(20)))
def test_no_reader_misses_an_event_or_is_told_it_twice(seed: int, committed_job: Job) -> None:
    """Whatever the order in which transactions begin, write and end."""
    chance = random.Random(seed)  # noqa: S311 - chance, not secrets
    kept = [*Event.objects.values_list("pk", flat=True)]
    readers = [Reader(most=1), Reader(most=3), Reader(most=1000)]
    with ExitStack() as stack:
        opened = [stack.enter_context(another_connection()) for _ in range(WRITERS)]
        writers = [Writer(one, committed_job) for one in opened]
        for _ in range(STEPS):
            act = chance.choice(["write", "write", "end", "read"])
            if act == "read":
                chance.choice(readers).read()
            elif act == "write":
                chance.choice(writers).write()
            else:
                kept += chance.choice(writers).end(is_kept=chance.random() < 0.8)
        for writer in writers:
            kept += writer.end(is_kept=True)
    for reader in readers:
        while reader.read():
            pass
    assert sorted(readers[0].found) == sorted(kept)
    assert readers[0].found != sorted(kept) or seed != 0, "no transaction overtook another"
    assert readers[0].found == readers[1].found == readers[2].found


def test_whoever_reads_while_another_gives_positions_waits_for_nobody(committed_job: Job) -> None:
    reader = Reader(most=10)
    reader.read()
    with another_connection() as other:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT last_position FROM jobs_eventfeed FOR UPDATE")
        Event.objects.create(job=committed_job, kind="idle")
        reader.read()
        assert len(reader.found) == 1
        other.rollback()
    reader.read()
    assert len(reader.found) == 2


def test_a_position_is_never_given_again(job: Job) -> None:
    """Else whoever saw the newest event of a job that was deleted would miss the next one."""
    number_events()
    Event.objects.all().delete()
    before = event_feed.last_position()
    Event.objects.create(job=job, kind="idle")
    number_events()
    assert [*Event.objects.values_list("position", flat=True)] == [before + 1]


def test_many_events_get_their_positions_in_portions(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbering, "MOST_AT_ONCE", 4)
    Event.objects.bulk_create(Event(job=job, kind="idle") for _ in range(6))
    assert [number_events(), number_events(), number_events()] == [4, 3, 0]


def test_events_of_all_jobs_come_in_order_with_whose_they_are(
    api: APIClient, submit: SubmitJob
) -> None:
    first, second = submit(name="first"), submit(name="second")
    api.post(f"/api/v1/jobs/{first.id}/pause")
    found = page(api)
    assert [(one["job_name"], one["kind"]) for one in found["items"]] == [
        ("first", "submitted"),
        ("second", "submitted"),
        ("first", "state_changed"),
    ]
    assert {one["team"] for one in found["items"]} == {"vision"}
    assert (found["items"][1]["job_id"], found["has_more"]) == (second.id, False)
    assert str(found["items"][-1]["position"]) == found["next"]
    assert page(api, after=found["next"])["items"] == []


def test_pages_lead_to_the_end(api: APIClient, submit: SubmitJob) -> None:
    for number in range(5):
        submit(name=f"job-{number}")
    names, after, has_more = [], "0", True
    while has_more:
        found = page(api, after=after, limit=2)
        names += [one["job_name"] for one in found["items"]]
        after, has_more = found["next"], found["has_more"]
    assert names == [f"job-{number}" for number in range(5)]


def test_a_page_looks_at_so_many_events_of_others(
    api: APIClient, foreign_api: APIClient, submit: SubmitJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        foreign_api.post("/api/v1/jobs", spec(name=f"theirs-{number}"), format="json")
    submit(name="ours")
    monkeypatch.setattr(event_feed, "MOST_LOOKED_AT", 3)
    first = page(api)
    assert (first["items"], first["has_more"]) == ([], True)
    second = page(api, after=first["next"])
    assert [one["job_name"] for one in second["items"]] == ["ours"]
    assert not second["has_more"]


def test_newest_begins_with_what_comes(api: APIClient, submit: SubmitJob) -> None:
    submit(name="before")
    found = page(api, after="newest")
    assert found["items"] == []
    submit(name="since")
    assert told(api, after=found["next"]) == [("since", "submitted")]


def test_filters_narrow_what_is_told(
    api: APIClient, admin_user: User, language: object, submit: SubmitJob
) -> None:
    job = submit()
    api.post(f"/api/v1/jobs/{job.id}/pause")
    assert told(api, kind=["state_changed", "idle"]) == [("digits", "state_changed")]
    assert told(api, kind=["idle"]) == told(api, team="language") == told(api, team="no") == []
    root = APIClient()
    root.force_login(admin_user)
    assert len(told(root)) == len(told(root, team="vision")) == 2
    assert told(root, team="language") == []


def test_nobody_is_told_of_other_teams(
    api: APIClient, foreign_api: APIClient, submit: SubmitJob
) -> None:
    submit()
    assert told(foreign_api) == []
    assert len(told(api)) == 1


@pytest.mark.parametrize(
    "query", [{"after": "x"}, {"after": "-1"}, {"limit": 0}, {"kind": "no"}, {"after": "9" * 19}]
)
def test_what_is_wrong_is_named(api: APIClient, query: dict[str, Any]) -> None:
    answer = api.get("/api/v1/events", query)
    assert answer.status_code == 400
    assert answer.json()["details"][0]["field"].startswith(next(iter(query)))


def test_a_poll_takes_the_same_statements_however_much_there_is(
    api: APIClient, submit: SubmitJob
) -> None:
    def statements(ask: Callable[[], object]) -> int:
        with CaptureQueriesContext(connection) as asked:
            ask()
        return len(asked)

    submit(name="first")
    page(api)
    nothing_new = statements(lambda: page(api))
    for number in range(5):
        submit(name=f"job-{number}")
    with transaction.atomic():
        some = statements(lambda: page(api))
    assert statements(lambda: page(api)) == nothing_new
    assert some <= nothing_new + 6  # the row, the positions, the count, and the transaction
