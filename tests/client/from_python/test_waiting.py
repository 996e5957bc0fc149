"""How does a client wait for a job? A service is played back here, and its requests counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from concertina.api.answers import ServerEvent
from concertina.api.request import ApiRequest
from concertina.connection.talks.carrying import BlockingSteps, result_of
from concertina.connection.talks.waiting import POLLS_BETWEEN, JobWatch
from concertina.errors import ConcertinaError, NotFound, Unreachable
from tests.client.manual_clock import ManualClock

Act = Callable[[], None]
Stream = list["ServerEvent | ConcertinaError | Act"]


class PlayedService:
    """Has one job; its streams tell what the test says, and acts between are done as they come."""

    def __init__(self, *streams: Stream | ConcertinaError) -> None:
        self.streams = list(streams)
        self.events_of_job: list[dict[str, Any]] = []
        self.state = "queued"
        self.requests: list[str] = []
        self.opened: list[dict[str, Any]] = []
        self.is_deleted = False

    def happen(self, state: str) -> dict[str, Any]:
        """Move the job on; return the event, which is no part of a stream by itself."""
        number = len(self.events_of_job) + 1
        event = {"id": number, "job_id": "job", "kind": "state_changed", "new_state": state}
        self.events_of_job.append(event)
        self.state = state
        return event

    def send(self, request: ApiRequest) -> tuple[int, Any]:
        self.requests.append(request.path)
        if self.is_deleted:
            raise NotFound("deleted")
        if request.path == "/jobs/job":
            return 200, {"state": self.state}
        after = request.params.get("after", 0)
        return 200, {"items": [event for event in self.events_of_job if event["id"] > after]}

    @contextmanager
    def events(
        self, request: ApiRequest, *, silence_seconds: float
    ) -> Iterator[Iterator[ServerEvent]]:
        assert silence_seconds == 20
        self.opened.append({**request.params, **request.headers})
        stream = self.streams.pop(0) if self.streams else Unreachable("no more of them")
        if isinstance(stream, ConcertinaError):
            raise stream
        yield self._played(stream)

    @staticmethod
    def _played(stream: Stream) -> Iterator[ServerEvent]:
        for event in stream:
            if isinstance(event, ConcertinaError):
                raise event
            if isinstance(event, ServerEvent):
                yield event
            else:
                event()


class EndingClock(ManualClock):
    """Has the job end after so many naps."""

    def __init__(self, service: PlayedService, *, naps: int) -> None:
        super().__init__()
        self._service = service
        self._ahead = naps

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self._ahead -= 1
        if self._ahead == 0:
            self._service.happen("completed")


def sent(event: dict[str, Any]) -> ServerEvent:
    return ServerEvent(name="event", data=json.dumps(event), id=str(100 + event["id"]))


def said(name: str, place: str = "100") -> ServerEvent:
    return ServerEvent(name=name, data="{}", id=place)


BEGIN, STILL_THERE, AGAIN = said("begin"), said("still-there"), said("again", "")


def wait(service: PlayedService, **more: Any) -> tuple[str, list[int], ManualClock]:
    clock, told = ManualClock(), list[int]()
    watch = JobWatch("job", on_event=lambda event: told.append(event["id"]), **more)
    with BlockingSteps(service, clock) as steps:  # type: ignore[arg-type]  # plays back
        return result_of(watch.until_final(), steps)["state"], told, clock


def test_a_job_that_is_final_already_needs_no_stream() -> None:
    service = PlayedService()
    service.happen("completed")
    assert wait(service)[:2] == ("completed", [1])
    assert (service.requests, service.opened) == (["/jobs/job", *["/jobs/job/events"] * 2], [])


def test_hours_of_training_cost_a_handful_of_requests() -> None:
    """Nobody wants to know how far it is; the job is looked at once a minute."""
    service = PlayedService()
    service.happen("running")
    last = {"id": 2, "job_id": "job", "new_state": "completed"}
    ends = lambda: _do(service.happen, "completed")  # noqa: E731 - short
    service.streams = [[BEGIN, *[STILL_THERE] * 240, ends, sent(last)]]
    state, told, clock = wait(service)
    assert (state, told, clock.naps) == ("completed", [1, 2], [])
    assert service.opened == [{"job": "job", "quiet": 15}]
    assert len(service.requests) <= 2 * 60 + 8  # polling: 2 * 3600


def test_what_happens_before_the_stream_begins_is_told_once() -> None:
    service = PlayedService()
    service.happen("starting")
    service.streams = [[lambda: _do(service.happen, "completed"), BEGIN]]
    assert wait(service)[:2] == ("completed", [1, 2])


def test_a_stream_that_broke_goes_on_behind_its_last_event() -> None:
    service = PlayedService()
    events = [{"id": number, "job_id": "job", "new_state": "running"} for number in (1, 2)]
    service.streams = [
        [BEGIN, lambda: _do(service.happen, "running"), sent(events[0]), Unreachable("broke")],
        [said("begin", "101"), lambda: _do(service.happen, "running"), sent(events[1]), AGAIN],
        [
            said("begin", "102"),
            lambda: _do(service.happen, "failed"),
            sent({**events[1], "id": 3, "new_state": "failed"}),
        ],
    ]
    state, told, _ = wait(service)
    assert (state, told) == ("failed", [1, 2, 3])
    assert [one.get("Last-Event-ID") for one in service.opened] == [None, "101", "102"]


def _do(act: Callable[[str], Any], state: str) -> None:
    act(state)


@pytest.mark.parametrize(
    ("refusal", "attempts"),
    [
        (NotFound("an older service has no such thing"), 1),
        (Unreachable("not ours", is_temporary=False), 1),
        (Unreachable("silent"), 2),
        (Unreachable("too many streams", code="throttled"), 4),
    ],
    ids=["old service", "foreign answer", "silence", "too many"],
)
def test_where_no_stream_is_to_be_had_the_job_is_read_again_and_again(
    refusal: ConcertinaError, attempts: int
) -> None:
    service = PlayedService(*[refusal] * 9)
    clock = EndingClock(service, naps=3 * POLLS_BETWEEN + 5)
    watch = JobWatch("job", on_event=lambda _event: None)
    with BlockingSteps(service, clock) as steps:  # type: ignore[arg-type]  # plays back
        assert result_of(watch.until_final(), steps)["state"] == "completed"
    assert len(service.opened) == attempts


def test_a_service_that_is_started_anew_is_followed_again() -> None:
    """The stream broke, and the next one could not be opened: no reason to poll for ever."""
    service = PlayedService()
    service.happen("running")
    last = {"id": 2, "job_id": "job", "new_state": "completed"}
    service.streams = [
        [BEGIN, Unreachable("broke")],
        Unreachable("502 of a proxy"),
        [BEGIN, lambda: _do(service.happen, "completed"), sent(last)],
    ]
    state, told, clock = wait(service)
    assert (state, told) == ("completed", [1, 2])
    assert clock.naps == [0.5, *[1.0] * POLLS_BETWEEN]


@pytest.mark.parametrize("data", ["<html>", "[]", "", '{"job_id'])
def test_a_stream_that_something_changes_on_its_way_is_given_up(data: str) -> None:
    garbage = ServerEvent(name="event", data=data, id="101")
    service = PlayedService([BEGIN, garbage], [BEGIN, garbage])
    clock = EndingClock(service, naps=POLLS_BETWEEN + 5)
    watch = JobWatch("job", on_event=lambda _event: None)
    with BlockingSteps(service, clock) as steps:  # type: ignore[arg-type]  # plays back
        assert result_of(watch.until_final(), steps)["state"] == "completed"
    assert len(service.opened) == 1


@pytest.mark.parametrize("problem", [NotFound("mine"), Unreachable("mine"), ValueError("mine")])
def test_what_a_listener_raises_reaches_who_waits(problem: Exception) -> None:
    service = PlayedService()
    service.happen("running")
    event = {"id": 2, "job_id": "job", "new_state": "running"}
    service.streams = [[BEGIN, sent(event)], [BEGIN, lambda: _do(service.happen, "completed")]]

    def listen(told: Any) -> None:
        if told["id"] == event["id"]:
            raise problem

    watch = JobWatch("job", on_event=listen)
    with (
        pytest.raises(type(problem), match="mine"),
        BlockingSteps(service, ManualClock()) as steps,  # type: ignore[arg-type]  # plays back
    ):
        result_of(watch.until_final(), steps)


def test_a_stream_that_is_kept_back_on_its_way_is_given_up() -> None:
    service = PlayedService([Unreachable("silent")], [Unreachable("silent")], [BEGIN])
    clock = EndingClock(service, naps=2 * POLLS_BETWEEN + 5)
    watch = JobWatch("job", on_event=lambda _event: None)
    with BlockingSteps(service, clock) as steps:  # type: ignore[arg-type]  # plays back
        assert result_of(watch.until_final(), steps)["state"] == "completed"
    assert len(service.opened) == 2


def test_a_stream_that_ends_at_once_is_not_asked_for_at_once_again() -> None:
    service = PlayedService()
    service.streams = [[], [lambda: _do(service.happen, "completed"), BEGIN]]
    state, _, clock = wait(service)
    assert (state, clock.naps) == ("completed", [1.0] * POLLS_BETWEEN)


def test_a_job_that_is_deleted_meanwhile_is_missed_within_a_minute() -> None:
    service = PlayedService()
    service.happen("running")
    service.streams = [[BEGIN, lambda: setattr(service, "is_deleted", True), *[STILL_THERE] * 4]]
    with pytest.raises(NotFound, match="deleted"):
        wait(service)


def test_who_watches_is_shown_the_job_at_changes_and_now_and_then() -> None:
    service = PlayedService()
    shown = list[str]()
    service.streams = [
        [
            BEGIN,
            STILL_THERE,
            lambda: _do(service.happen, "running"),
            sent({"id": 1, "job_id": "job", "new_state": "running"}),
            sent({"id": 1, "job_id": "another", "new_state": "failed"}),
            lambda: _do(service.happen, "completed"),
            STILL_THERE,
        ]
    ]
    state, told, _ = wait(
        service, on_progress=lambda job: shown.append(job["state"]), progress_seconds=2.0
    )
    assert (state, told) == ("completed", [1, 2])
    assert shown == ["queued", "queued", "queued", "running", "completed", "completed"]
    assert service.opened == [{"job": "job", "quiet": 2}]
