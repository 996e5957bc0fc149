"""Is everybody told what is left, refused beyond it, and counted as who they are?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import redis
from cluster.variables import EnvironmentVariables
from control_plane.api.teams.teams import TeamsView
from control_plane.configuration import limit_settings
from control_plane.front.asgi_types import Scope
from control_plane.front.callers import BUCKET, PRINCIPAL, Callers, Sender, group_of
from control_plane.front.counted_jobs import JOBS_OF_ONE, count_jobs
from control_plane.front.principal import PrincipalMiddleware
from control_plane.front.rates import RateLimited
from control_plane.front.wiring import is_piece, job_opened_by
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils import timezone
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.test import APIClient
from tenancy.access.addresses import network_of
from tenancy.buckets import AsyncBuckets, LocalBuckets, SharedBuckets, TokenBucket, TokensTaken
from tenancy.models import Membership, Team

from jobs.reports import job_token
from tests.service.front.asking import Answer, Recorder, ask, scope_of

LIMITS = replace(
    limit_settings.read(EnvironmentVariables({})),
    read_rate=2,
    write_rate=1,
    sync_rate=3,
    unknown_rate=4,
)


class Frozen:
    """Buckets whose time stands still."""

    def __init__(self) -> None:
        self._local = LocalBuckets(lambda: 0.0)

    async def take(self, buckets: list[TokenBucket]) -> TokensTaken:
        return self._local.take(buckets)


class World:
    """What stands before Django, with a Django that accepts some credentials."""

    def __init__(self, **accepted: str) -> None:
        self._accepted = accepted
        self.groups: list[str] = []  # with which requests shared as they came
        self.django = Recorder(before=self._authenticate)
        self.front = RateLimited(
            self.django,
            buckets=Frozen(),
            local=LocalBuckets(lambda: 0.0),
            callers=Callers(
                session_cookie="session", proxies=1, job_opened_by=job_opened_by, most=3
            ),
            limits=LIMITS,
            is_piece=is_piece,
        )

    async def _authenticate(self, scope: Scope) -> None:
        self.groups.append(group_of(scope))
        headers = dict(scope["headers"])
        told = headers.get(b"authorization") or headers.get(b"cookie") or b""
        if principal := self._accepted.get(told.decode().partition("=")[2].strip()):
            scope[PRINCIPAL] = Sender(name=principal, group="team:1")

    def ask(self, times: int = 1, method: str = "GET", path: str = "/api/v1/jobs",
            **headers: str) -> list[Answer]:  # fmt: skip
        async def story() -> list[Answer]:
            return [await ask(self.front, method, path, headers=headers) for _ in range(times)]

        return asyncio.run(story())


def refused(answers: list[Answer]) -> int:
    return sum(answer.status == 429 for answer in answers)


def test_each_answer_tells_what_is_left() -> None:
    world = World(a="token:1")
    world.ask(Authorization="Bearer =a")
    [answer] = world.ask(Authorization="Bearer =a")
    told = {name: value for name, value in answer.headers.items() if name.startswith("ratelimit")}
    assert told == {
        "ratelimit-limit": "20",
        "ratelimit-remaining": "19",
        "ratelimit-reset": "1",
        "ratelimit-policy": "20;w=10",
    }


def test_reads_and_writes_of_a_token_are_counted_apart() -> None:
    world = World(a="token:1")
    world.ask(Authorization="Bearer =a")  # by address, until it is known
    assert refused(world.ask(21, Authorization="Bearer =a")) == 1
    writes = world.ask(11, method="POST", Authorization="Bearer =a")
    assert [answer.status for answer in writes] == [200] * 10 + [429]
    assert writes[-1].headers["retry-after"] == "1"
    assert writes[-1].json() == {
        "code": "too_many_requests",
        "message": "These were too many requests that change something: 1 a second are allowed,"
        " 10 at once. Try again in 1 s.",
        "details": [],
    }


def test_the_jobs_of_a_bulk_are_taken_from_the_senders_bucket_of_writes() -> None:
    world = World(a="token:1")
    for _ in range(2):
        world.ask(method="POST", path="/api/v1/jobs:bulk", Authorization="Bearer =a")
    [_, scope] = world.django.scopes
    assert scope[BUCKET].key == "concertina:rate:write:token:1"
    http = RequestFactory().post("/api/v1/jobs:bulk")
    http.scope = {BUCKET: replace(scope[BUCKET], per_second=0.001)}  # as good as none
    request = Request(http)
    count_jobs(request, 1000 * JOBS_OF_ONE)  # never more than there may be: 9 and the request
    count_jobs(request, JOBS_OF_ONE - 1)
    count_jobs(request, JOBS_OF_ONE)
    with pytest.raises(Throttled, match="25 jobs at once count as 2 requests") as refusal:
        count_jobs(request, JOBS_OF_ONE)
    assert refusal.value.wait > 900


def test_two_sessions_of_a_person_count_as_one_and_two_tokens_as_two() -> None:
    world = World(first="user:7", second="user:7", a="token:1", b="token:2")
    for credential in ("first", "second"):
        world.ask(Cookie=f"session={credential}")
    assert refused(world.ask(20, Cookie="session=first")) == 0
    assert refused(world.ask(1, Cookie="session=second")) == 1
    world = World(a="token:1", b="token:2")
    for credential in ("a", "b"):
        world.ask(Authorization=f"Bearer ={credential}")
    assert refused(world.ask(20, Authorization="Bearer =a")) == 0
    assert refused(world.ask(20, Authorization="Bearer =b")) == 0


def test_made_up_credentials_count_by_address_and_leave_those_that_are_known_alone() -> None:
    world = World(a="token:1")
    world.ask(Authorization="Bearer =a")
    made_up = [world.ask(Authorization=f"Bearer =wrong{number}")[0] for number in range(40)]
    assert refused(made_up) == 1
    assert refused(world.ask(Authorization="Bearer =a")) == 0
    elsewhere = world.ask(Authorization="Bearer =wrong", **{"X-Forwarded-For": "1.2.3.4, 5.6.7.8"})
    assert refused(elsewhere) == 0


def test_a_job_is_known_by_its_token_and_nobody_elses_requests_count_as_its() -> None:
    path = "/internal/v1/jobs/abc/sync"
    own, foreign = (
        f"Bearer {job_token.of_coordinator(job, term=0, now=timezone.now())}"
        for job in ("abc", "other")
    )
    world = World()
    assert refused(world.ask(45, "POST", path, Authorization=foreign)) == 5
    assert refused(world.ask(31, "POST", path, Authorization=own)) == 1


def test_a_long_body_counts_as_several_requests_and_one_of_unknown_length_as_the_longest() -> None:
    world = World(a="token:1")
    world.ask(Authorization="Bearer =a")
    sent = {"Authorization": "Bearer =a", "Content-Length": str(4 * 65_536)}
    assert [one.status for one in world.ask(3, "POST", **sent)] == [200, 200, 429]
    refusal = world.ask(1, "POST", **sent)[0]
    assert "counts as 5 for the length of its body" in refusal.json()["message"]
    world = World(a="token:1")
    world.ask(Authorization="Bearer =a")
    chunked = {"Authorization": "Bearer =a", "Transfer-Encoding": "chunked"}
    assert [one.status for one in world.ask(2, "POST", **chunked)] == [200, 429]


def test_a_piece_of_an_upload_counts_as_one_request_of_whoever_is_known() -> None:
    world = World(a="token:1")
    world.ask(Authorization="Bearer =a")
    path = f"/api/v1/teams/vision/data/{'0' * 64}"
    sent = {"Authorization": "Bearer =a", "Content-Length": str(4 << 20)}
    assert refused(world.ask(10, "PUT", path, **sent)) == 0
    unknown = {**sent, "Authorization": "Bearer =wrong"}
    assert refused(world.ask(10, "PUT", path, **unknown)) > 0


def test_signing_in_counts_by_address_and_apart_from_other_requests() -> None:
    world = World(a="user:1")
    assert refused(world.ask(41, Authorization="Bearer =wrong")) == 1
    for path in ("/api/v1/session", "/admin/login/"):
        elsewhere = {"X-Forwarded-For": "1.2.3.4" if path.startswith("/api") else "5.6.7.8"}
        assert refused(world.ask(41, "POST", path, **elsewhere)) == 1
        assert refused(world.ask(21, "GET", path, **elsewhere)) == 1
    assert refused(world.ask(1, "POST", "/api/v1/session")) == 0


def test_a_header_of_another_scheme_does_not_hide_the_session() -> None:
    world = World(a="user:1")
    world.ask(Cookie="session=a")
    made_up = [world.ask(Cookie="session=a", Authorization=f"x{n}")[0] for n in range(21)]
    assert refused(made_up) == 1
    in_admin = [
        world.ask(path="/admin/", Cookie="session=a", Authorization=f"Bearer {n}")[0]
        for n in range(2)
    ]
    assert refused(in_admin) == 2


def test_a_token_is_the_same_however_its_header_is_written() -> None:
    world = World(a="token:1")
    world.ask(Authorization="Bearer =a")
    for written in ("bearer =a", "Bearer   =a", "BEARER =a  "):
        assert refused(world.ask(6, Authorization=written)) == 0
    assert refused(world.ask(3, Authorization="bearer =a ")) == 1
    assert len(world.front._callers._known) == 1  # noqa: SLF001 - a bound of memory has no other sign


@pytest.mark.parametrize(
    ("told", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8:0:0:ffff::2", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("somewhere", "somewhere"),
    ],
)
def test_of_ipv6_a_network_counts(told: str, network: str) -> None:
    callers = Callers(session_cookie="session", proxies=0, job_opened_by=job_opened_by)
    assert callers.address(scope_of("GET", "/", {}, told)) == network_of(told) == network


def test_health_is_not_counted_and_no_more_is_remembered_than_said() -> None:
    world = World(**{str(number): f"token:{number}" for number in range(9)})
    assert refused(world.ask(50, path="/api/v1/health")) == 0
    assert refused(world.ask(50, path="/assets/index.js")) == 0
    for number in range(9):
        world.ask(Authorization=f"Bearer ={number}")
    assert len(world.front._callers._known) == 3  # noqa: SLF001 - a bound of memory has no other sign


@pytest.fixture
def key() -> Iterator[str]:
    name = "concertina:rate:test"
    with redis.Redis.from_url(settings.CONCERTINA.redis_url) as client:
        client.delete(name)
        yield name
        client.delete(name)


def bucket(key: str, **changes: Any) -> TokenBucket:
    return TokenBucket(**{"key": key, "capacity": 3, "per_second": 0.001, **changes})


def test_redis_counts_for_all_processes_as_memory_does(key: str) -> None:
    url = settings.CONCERTINA.redis_url
    one, other = SharedBuckets(url), SharedBuckets(url)
    shared = [buckets.take([bucket(key)]) for buckets in (one, other, one, other)]
    memory = LocalBuckets(lambda: 0.0)
    local = [memory.take([bucket(key)]) for _ in range(4)]
    assert [(taken.is_allowed, taken.remaining) for taken in shared] == [
        (True, 2), (True, 1), (True, 0), (False, 0)
    ]  # fmt: skip
    for ours, theirs in zip(local, shared, strict=True):
        assert (ours.is_allowed, ours.remaining) == (theirs.is_allowed, theirs.remaining)
        assert ours.wait_seconds == pytest.approx(theirs.wait_seconds, rel=0.1)
        assert ours.reset_seconds == pytest.approx(theirs.reset_seconds, rel=0.1)
    with redis.Redis.from_url(url) as client:
        assert 0 < client.ttl(key) <= 3002
    one.forget(key)
    assert other.take([bucket(key)]).remaining == 2


@pytest.mark.parametrize("where", ["shared", "local"])
def test_several_tokens_are_taken_at_once_or_not_at_all(key: str, where: str) -> None:
    shared, local = SharedBuckets(settings.CONCERTINA.redis_url), LocalBuckets(lambda: 0.0)
    buckets = shared if where == "shared" else local
    three, two = (replace(bucket(key, capacity=4), tokens=tokens) for tokens in (3, 2))
    assert [buckets.take([one]).is_allowed for one in (three, two)] == [True, False]
    assert buckets.take([bucket(key, capacity=4)]).remaining == 0


def test_one_bucket_without_a_token_keeps_the_others_whole(key: str) -> None:
    buckets = SharedBuckets(settings.CONCERTINA.redis_url)
    empty = bucket(f"{key}:empty", capacity=1)
    try:
        assert buckets.take([bucket(key), empty]).remaining == 0
        assert not buckets.take([bucket(key), empty]).is_allowed
        assert buckets.take([bucket(key)]).remaining == 1
    finally:
        buckets.forget(empty.key)


def test_while_redis_is_away_each_process_counts_for_itself() -> None:
    async def story() -> list[bool]:
        buckets = AsyncBuckets("unix:///nowhere/at/all", clock=lambda: 0.0)
        taken = [await buckets.take([bucket("k")]) for _ in range(4)]
        await buckets.close()
        return [one.is_allowed for one in taken]

    assert asyncio.run(story()) == [True, True, True, False]


def test_an_event_loop_asks_redis_as_well(key: str) -> None:
    async def story() -> list[int]:
        buckets = AsyncBuckets(settings.CONCERTINA.redis_url)
        taken = [await buckets.take([bucket(key)]) for _ in range(2)]
        await buckets.close()
        return [one.remaining for one in taken]

    assert asyncio.run(story()) == [2, 1]
    with redis.Redis.from_url(settings.CONCERTINA.redis_url) as client:
        assert client.exists(key)


def test_a_bucket_fills_up_again() -> None:
    now = 0.0
    buckets = LocalBuckets(lambda: now)
    quick = bucket("k", capacity=2, per_second=1.0)
    assert [buckets.take([quick]).is_allowed for _ in range(3)] == [True, True, False]
    assert buckets.take([quick]).wait_seconds == pytest.approx(1.0)
    now = 1.0
    assert [buckets.take([quick]).is_allowed for _ in range(2)] == [True, False]
    now = 100.0
    assert [buckets.take([quick]).is_allowed for _ in range(3)] == [True, True, False]


def told_by_django(path: str, view: Any, **changes: Any) -> Sender:
    request = RequestFactory().get(path, headers=changes.pop("headers", {}))
    request.scope = changes.pop("scope", {})  # type: ignore[attr-defined]  # as ASGI's have one
    request.__dict__.update(changes)
    PrincipalMiddleware(view)(request)
    sender: Sender = request.scope[PRINCIPAL]  # type: ignore[attr-defined]
    return sender


@pytest.mark.django_db
def test_django_tells_who_it_was_and_of_which_team(api: APIClient, vision: Team) -> None:
    key = api._credentials["HTTP_AUTHORIZATION"]  # noqa: SLF001 - DRF tells it no other way
    sender = told_by_django("/api/v1/teams", TeamsView.as_view(), headers={"Authorization": key})
    assert sender.name.startswith("token:")
    assert sender.group == f"team:{vision.pk}"


@pytest.mark.django_db
def test_a_person_counts_to_the_first_of_their_teams_and_an_admin_to_none(vision: Team) -> None:
    member = User.objects.create_user("member")
    Membership.objects.create(user=member, team=vision)
    admin = User.objects.create_superuser("root")
    senders = [
        told_by_django("/", lambda _: HttpResponse(), _cached_user=person)
        for person in (member, admin)
    ]
    assert [sender.group for sender in senders] == [f"team:{vision.pk}", ""]


def test_the_tokens_of_a_team_are_one_group_once_they_are_known() -> None:
    world = World(a="token:1", b="token:2")
    for credential in ("a", "b", "a", "b"):
        world.ask(Authorization=f"Bearer ={credential}")
    assert world.groups == [*["address:192.0.2.1"] * 2, *["team:1"] * 2]


def test_a_first_request_is_paid_by_whose_it_was_unless_it_is_a_sign_in() -> None:
    world = World(a="token:1", b="user:2")
    world.ask(Authorization="Bearer =a")
    world.ask(Authorization="Bearer =c")  # which is nobody's
    world.ask(method="POST", path="/api/v1/session", Cookie="session=b")
    assert [group_of(scope) for scope in world.django.scopes] == [
        "team:1",
        *["address:192.0.2.1"] * 2,
    ]
