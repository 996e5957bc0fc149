"""Is each read made once for all who see the same, and sent when it changed?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from control_plane.api.live import stream as streams
from control_plane.api.live import topics as all_topics
from control_plane.api.live.compression import PageEvent, plain
from control_plane.api.live.reads import Answered, Viewpoint, ViewpointChanged, problem_of
from control_plane.api.live.stream import LiveStream
from control_plane.api.live.topics import Topics
from control_plane.api.logs.followed_grants import FollowedGrants, GrantState
from tenancy.access.grants import Grant

VISION = Viewpoint(is_admin=False, team_ids=frozenset({1}))
LANGUAGE = Viewpoint(is_admin=False, team_ids=frozenset({2}))
TEAMS, POOLS = "/api/v1/teams", "/api/v1/pools"


@dataclass
class Service:
    """Answers what it has at the time, and counts how often it is read."""

    body: bytes = b"1"
    status: int = 200
    reads: list[tuple[str, Any]] = field(default_factory=list)
    fails: int = 0
    sees_more: set[Any] = field(default_factory=set)  # who came into another team
    was_read: asyncio.Event = field(default_factory=asyncio.Event)

    async def is_read_again(self, times: int) -> None:
        wanted = len(self.reads) + times
        while len(self.reads) < wanted:
            self.was_read.clear()
            await self.was_read.wait()

    async def read(self, read: str, user: Any, _: Viewpoint) -> tuple[PageEvent, float]:
        self.reads.append((read, user))
        self.was_read.set()
        await asyncio.sleep(0)
        if user in self.sees_more:
            raise ViewpointChanged
        if self.fails:
            self.fails -= 1
            raise OSError("the database is away")
        return PageEvent.of(Answered(status=self.status, body=self.body).as_event(read)), 0.001


class Grants(FollowedGrants):
    """Grants that a test takes back."""

    def __init__(self) -> None:
        super().__init__()
        self.state = GrantState.VALID

    async def look_at(self, grant: Grant) -> GrantState:  # noqa: ARG002 - the parent's
        return self.state


@dataclass
class Story:
    """A process of `api`, with what looks at it."""

    service: Service = field(default_factory=Service)
    grants: Grants = field(default_factory=Grants)

    def __post_init__(self) -> None:
        self.topics = Topics(self.service.read)

    def page(self, *reads: str, viewpoint: Viewpoint = VISION, user: str = "ada") -> LiveStream:
        grant = Grant(team_id=1, token_id=1)
        return LiveStream(
            self.topics,
            self.grants,
            user=user,
            reader=user,
            viewpoint=viewpoint,
            grants=[grant],
            reads=reads,
        )


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_topics, "seconds_between", lambda _: 0.0)
    monkeypatch.setattr(all_topics, "_FAILED_SECONDS", 0.0)


def run(story: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await story()

    asyncio.run(bounded())


async def next_read(events: Any) -> bytes:
    """Return the next event that tells of a read."""
    while True:
        event: bytes = await anext(events)
        if event.startswith(b"event: read"):
            return event


def test_a_page_gets_all_it_shows_and_then_what_changed() -> None:
    async def told() -> None:
        story = Story()
        events = plain(story.page(TEAMS, POOLS).events())
        first = {await next_read(events), await next_read(events)}
        assert first == {
            f'event: read\ndata: {{"read": "{read}", "status": 200, "body": 1}}\n\n'.encode()
            for read in (TEAMS, POOLS)
        }
        await story.service.is_read_again(6)  # what is the same is not sent
        story.service.body = b"2"
        changed = {await next_read(events), await next_read(events)}
        assert all(b'"body": 2' in event for event in changed)
        await events.aclose()

    run(told)


def test_what_its_reader_may_do_is_read_for_each_and_once_for_all_windows_of_one() -> None:
    async def told() -> None:
        story = Story()
        head = "/api/v1/jobs/abc"
        pages = [plain(story.page(head, user=user).events()) for user in ("ada", "ada", "bob")]
        for events in pages:
            assert b'"body": 1' in await next_read(events)
        assert {user for _, user in story.service.reads} == {"ada", "bob"}
        assert len(story.topics) == 2
        for events in pages:
            await events.aclose()
        assert len(story.topics) == 0

    run(told)


def test_many_pages_cost_one_read_and_who_comes_later_sees_it_at_once() -> None:
    async def told() -> None:
        story = Story()
        pages = [plain(story.page(TEAMS, user=f"person-{number}").events()) for number in range(50)]
        for events in pages:
            assert b'"body": 1' in await next_read(events)
        assert {user for _, user in story.service.reads} == {"person-0"}
        assert len(story.topics) == 1
        for events in pages:
            await events.aclose()
        assert len(story.topics) == 0
        made = len(story.service.reads)
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(story.service.reads) <= made + 1, "nobody looks, so nothing is read"

    run(told)


def test_when_whoever_it_was_read_for_leaves_it_is_read_for_another() -> None:
    async def told() -> None:
        story = Story()
        first, second = (plain(story.page(TEAMS, user=user).events()) for user in ("ada", "bob"))
        await next_read(first)
        await next_read(second)
        await first.aclose()
        story.service.reads.clear()
        await story.service.is_read_again(3)
        assert {user for _, user in story.service.reads[1:]} <= {"bob"}
        await second.aclose()

    run(told)


def test_who_sees_other_teams_gets_a_read_of_their_own() -> None:
    async def told() -> None:
        story = Story()
        ours = plain(story.page(TEAMS, user="ada").events())
        theirs = plain(story.page(TEAMS, viewpoint=LANGUAGE, user="bob").events())
        await next_read(ours)
        await next_read(theirs)
        assert len(story.topics) == 2
        assert {user for _, user in story.service.reads} == {"ada", "bob"}
        await ours.aclose()
        await theirs.aclose()

    run(told)


@pytest.mark.parametrize("state", [GrantState.WITHDRAWN, GrantState.UNCONFIRMED])
def test_who_may_look_no_longer_gets_nothing_more(
    state: GrantState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_LOOK_SECONDS", 0.0)

    async def told() -> None:
        story = Story()
        events = plain(story.page(TEAMS).events())
        await next_read(events)
        story.grants.state = state
        story.service.body = b'"what they may not see"'
        rest = [event async for event in events]
        assert rest[-1] == b"event: again\ndata: {}\n\n"
        assert b"may not see" not in b"".join(rest)
        assert len(story.topics) == 0

    run(told)


def test_nothing_is_read_for_others_by_who_sees_more_than_they() -> None:
    async def told() -> None:
        story = Story()
        ada, bob = (plain(story.page(TEAMS, user=user).events()) for user in ("ada", "bob"))
        await next_read(ada)
        await next_read(bob)
        story.service.sees_more = {"ada"}
        story.service.body = b"2"
        assert [event async for event in ada][-1] == b"event: again\ndata: {}\n\n"
        assert b'"body": 2' in await next_read(bob)
        story.service.sees_more = {"ada", "bob"}
        assert [event async for event in bob][-1] == b"event: again\ndata: {}\n\n"
        assert len(story.topics) == 0

    run(told)


def test_a_read_that_fails_is_tried_again_and_a_refusal_is_told() -> None:
    async def told() -> None:
        story = Story(Service(fails=2))
        events = plain(story.page(TEAMS).events())
        assert b'"body": 1' in await next_read(events)
        story.service.status = 404
        assert b'"status": 404, "body": null' in await next_read(events)
        await events.aclose()

    run(told)


def test_what_is_too_much_is_not_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_topics, "MOST_TOPICS", 1)

    async def told() -> None:
        story = Story()
        events = plain(story.page(TEAMS, POOLS).events())
        assert TEAMS.encode() in await next_read(events)
        assert {read for read, _ in story.service.reads} == {TEAMS}
        await events.aclose()

    run(told)


def test_those_of_one_viewpoint_leave_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_topics, "MOST_OF_ONE", 1)

    async def told() -> None:
        story = Story()
        events = plain(story.page(TEAMS, POOLS).events())
        await next_read(events)
        others = plain(story.page(POOLS, viewpoint=LANGUAGE, user="bob").events())
        assert POOLS.encode() in await next_read(others)
        assert len(story.topics) == 2
        await events.aclose()
        await others.aclose()

    run(told)


def test_what_each_reads_alone_leaves_room_for_what_all_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(all_topics, "MOST_OF_ONE", 4)

    async def told() -> None:
        story = Story()
        readers = [story.page("/api/v1/jobs/abc", user=f"person-{at}") for at in range(9)]
        joined = [story.topics.join(one, "/api/v1/jobs/abc") for one in readers]
        assert [topic is not None for topic in joined] == [True] * 2 + [False] * 7
        events = plain(story.page(TEAMS, user="ada").events())
        assert TEAMS.encode() in await next_read(events)
        await events.aclose()
        for one, topic in zip(readers, joined, strict=True):
            if topic is not None:
                story.topics.leave(one, topic)

    run(told)


def test_a_page_hears_that_the_service_is_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "KEEP_ALIVE_SECONDS", 0.0)
    monkeypatch.setattr(streams, "_LOOK_SECONDS", 0.0)

    async def told() -> None:
        events = plain(Story().page(TEAMS).events())
        await next_read(events)
        assert await anext(events) == b"event: still-there\ndata: {}\n\n"
        await events.aclose()

    run(told)


def test_a_page_that_stays_open_comes_again_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LONGEST_SECONDS", 0.0)

    async def told() -> None:
        events = [event async for event in plain(Story().page(TEAMS).events())]
        assert events == [b"retry: 2000\n\n", b"event: again\ndata: {}\n\n"]

    run(told)


@pytest.mark.parametrize(
    ("reads", "problem"),
    [
        ([], "Say what to read"),
        ([TEAMS] * 13, "at most 12"),
        (["/api/v1/session"], "cannot be live"),
        (["/api/v1/jobs/abc/logs"], "cannot be live"),
        (["/admin/"], "cannot be live"),
        (["https://elsewhere/api/v1/teams"], "cannot be live"),
        (["//elsewhere/api/v1/teams"], "cannot be live"),
        ([TEAMS + "#there"], "cannot be live"),
        ([TEAMS + "?pool=" + "x" * 400], "cannot be live"),
        (["/api/v1/jobs/abc"], ""),
        ([TEAMS, POOLS, "/api/v1/cluster/utilisation?minutes=60"], ""),
    ],
)
def test_what_can_be_live_is_said(reads: list[str], problem: str) -> None:
    said = problem_of(reads)
    assert problem in said
    assert bool(problem) == bool(said)
