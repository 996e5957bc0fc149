"""Do both clients do on a real service what they promise? Each case runs with either."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import re
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from tenancy.models import Team

from concertina import AsyncClient, Client, NotAllowed, NotFound, RefusedByService, Unreachable
from concertina.connection.answers import trace_of
from concertina.connection.retrying import RetryPolicy
from jobs.lifecycle import JobState
from jobs.models import Job
from tests.client.running_api import RunningApi
from tests.client.test_submitting import finish
from tests.end_to_end.waiting import until

SPEC: dict[str, Any] = {"name": "digits", "command": ["python", "train.py"]}
QUICK = RetryPolicy(patience_seconds=5.0, first_delay_seconds=0.01)


def blocking(api: RunningApi, token: str, folder: Path) -> list[Any]:
    told = list[Any]()
    with Client(api.url, token) as client:
        told.append(client.submit(SPEC, idempotency_key="one").is_new)
        submitted = client.submit(SPEC, idempotency_key="one")
        told.append((submitted.is_new, submitted.job["name"]))
        others = [{**SPEC, "name": f"other-{number}"} for number in range(3)]
        told.append(len(client.submit_bulk({"jobs": others}).jobs["items"]))
        listed = client.every(client.api.list_jobs, limit=2, order="submitted")
        told.append(sorted(job["name"] for job in listed))
        told.append(client.api.get_job(submitted.job["id"])["state"])
        told.append(client.api.list_usage_as_csv(by="team").partition(",")[0])
        with client.api.get_job_log_file(submitted.job["id"]) as answer:
            told.append((answer.status, b"".join(answer.pieces)))
        with client.api.follow_events(after="0") as events:
            told.append(next(event.name for event in events))
        for refused in (
            lambda: client.api.get_job("nothing"),
            lambda: client.api.add_team({"name": "mine"}),
            lambda: client.api.submit_job({"name": "x"}),  # type: ignore[typeddict-item]  # meant
        ):
            try:
                refused()
            except (NotAllowed, NotFound, RefusedByService) as problem:
                told.append((type(problem).__name__, problem.code))
        told.append(client.upload_code(folder).is_new)
        told.append(client.upload_code(folder, team="vision").is_new)
        with client.as_person("lina", "a long password"):
            told.append(client.api.get_session()["user"]["username"])
            told.append(client.api.add_team({"name": f"mine-{len(told)}"})["name"])
        told.append(len(client.api.list_jobs()["items"]))
    return told


def awaited(api: RunningApi, token: str, folder: Path) -> list[Any]:
    async def ask() -> list[Any]:
        told = list[Any]()
        async with AsyncClient(api.url, token) as client:
            told.append((await client.submit(SPEC, idempotency_key="one")).is_new)
            submitted = await client.submit(SPEC, idempotency_key="one")
            told.append((submitted.is_new, submitted.job["name"]))
            others = [{**SPEC, "name": f"other-{number}"} for number in range(3)]
            told.append(len((await client.submit_bulk({"jobs": others})).jobs["items"]))
            listed = client.every(client.api.list_jobs, limit=2, order="submitted")
            told.append(sorted([job["name"] async for job in listed]))
            told.append((await client.api.get_job(submitted.job["id"]))["state"])
            told.append((await client.api.list_usage_as_csv(by="team")).partition(",")[0])
            async with client.api.get_job_log_file(submitted.job["id"]) as answer:
                told.append((answer.status, b"".join([piece async for piece in answer.pieces])))
            async with client.api.follow_events(after="0") as events:
                told.append((await anext(events)).name)
            for refused in (
                lambda: client.api.get_job("nothing"),
                lambda: client.api.add_team({"name": "mine"}),
                lambda: client.api.submit_job({"name": "x"}),  # type: ignore[typeddict-item]  # meant
            ):
                try:
                    await refused()
                except (NotAllowed, NotFound, RefusedByService) as problem:
                    told.append((type(problem).__name__, problem.code))
            told.append((await client.upload_code(folder)).is_new)
            told.append((await client.upload_code(folder, team="vision")).is_new)
            async with client.as_person("lina", "a long password"):
                told.append((await client.api.get_session())["user"]["username"])
                told.append((await client.api.add_team({"name": f"mine-{len(told)}"}))["name"])
            told.append(len((await client.api.list_jobs())["items"]))
        return told

    return asyncio.run(ask())


@pytest.mark.parametrize("ask", [blocking, awaited])
def test_both_clients_are_answered_alike(
    ask: Callable[..., list[Any]], api: RunningApi, token_of: dict[str, str], tmp_path: Path
) -> None:
    get_user_model().objects.create_superuser("lina", password="a long password")
    (tmp_path / "train.py").write_text("print()\n")
    told = ask(api, token_of["vision"], tmp_path)
    assert told == [
        True,
        (False, "digits"),
        3,
        ["digits", "other-0", "other-1", "other-2"],
        "queued",
        "team",
        (200, b""),
        "begin",
        ("NotFound", "not_found"),
        ("NotAllowed", "permission_denied"),
        ("RefusedByService", "invalid_spec"),
        True,
        False,
        "lina",
        "mine-14",
        4,
    ]
    assert Team.objects.filter(name="mine-14").exists()
    assert Job.objects.count() == 4


def wait_blocking(url: str, token: str, job_id: str, told: list[str]) -> str:
    with Client(url, token) as client:
        heard = lambda event: told.append(event["kind"])  # noqa: E731 - short
        return client.wait(job_id, on_event=heard)["state"]


def wait_awaited(url: str, token: str, job_id: str, told: list[str]) -> str:
    async def wait() -> str:
        async with AsyncClient(url, token) as client:
            heard = lambda event: told.append(event["kind"])  # noqa: E731 - short
            return (await client.wait(job_id, on_event=heard))["state"]

    return asyncio.run(wait())


@pytest.mark.parametrize("wait", [wait_blocking, wait_awaited])
def test_who_waits_hears_of_all_that_happened_and_asks_for_little(
    wait: Callable[..., str],
    api: RunningApi,
    token_of: dict[str, str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Client(api.url, token_of["vision"]) as client:
        job = Job.objects.get(pk=client.submit(SPEC).job["id"])
    told, states = list[str](), list[str]()
    caplog.set_level("INFO", "httpx")
    waiter = threading.Thread(
        target=lambda: states.append(wait(api.url, token_of["vision"], job.id, told))
    )
    waiter.start()
    until(lambda: f"stream?job={job.id}" in caplog.text, seconds=90, what="a stream was opened")
    finish(job, JobState.COMPLETED)
    waiter.join()
    assert (told, states) == (["submitted", *["state_changed"] * 4], ["completed"])
    asked = Counter(re.findall(r"GET \S+/api/v1(\S+?)(?:\?\S*)? ", caplog.text))
    assert asked["/events/stream"] == 1
    assert asked[f"/jobs/{job.id}"] == 3  # at first, when the stream began, and at last
    assert asked[f"/jobs/{job.id}/events"] <= 6


class Moody(BaseHTTPRequestHandler):
    """Is away for two requests, then answers."""

    seen: list[str]

    def do_GET(self) -> None:
        self.seen.append(self.command)
        status = 503 if len(self.seen) < 3 else 200
        body = b'{"items": ["hello"]}' if status == 200 else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_DELETE(self) -> None:
        self.seen.append(self.command)
        self.connection.close()  # whether it was done nobody knows

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def moody() -> Iterator[tuple[str, list[str]]]:
    seen = list[str]()
    handler = type("MoodyOne", (Moody,), {"seen": seen})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()
        thread.join()


def test_who_awaits_is_as_patient_as_who_blocks(moody: tuple[str, list[str]]) -> None:
    url, seen = moody

    async def ask() -> list[str]:
        async with AsyncClient(url, "ct_x", policy=QUICK) as client:
            notices = (await client.api.list_notices())["items"]
            with pytest.raises(Unreachable):
                await client.api.delete_job("digits")
            return notices

    assert (asyncio.run(ask()), seen) == (["hello"], [*["GET"] * 3, "DELETE"])
    seen.clear()
    with Client(url, "ct_x", policy=QUICK) as client:
        assert client.api.list_notices()["items"] == ["hello"]
        with pytest.raises(Unreachable):
            client.api.delete_job("digits")
    assert seen == [*["GET"] * 3, "DELETE"]


@pytest.mark.parametrize(
    ("place", "is_sent"),
    [(f"00-{'4b' * 16}-{'0f' * 8}-01", True), ("00-1\r\nx: y", False), ("", False)],
)
def test_a_trace_of_whoever_runs_it_goes_on(place: str, *, is_sent: bool) -> None:
    assert trace_of({"TRACEPARENT": place}) == ({"traceparent": place} if is_sent else {})


def test_a_client_that_awaits_may_be_used_in_one_event_loop_after_the_other(
    api: RunningApi, token_of: dict[str, str]
) -> None:
    client = AsyncClient(api.url, token_of["vision"])

    async def ask() -> int:
        async with client:
            return len((await client.api.list_jobs())["items"])

    assert [asyncio.run(ask()), asyncio.run(ask())] == [0, 0]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of connections whose loop has gone
def test_a_client_that_awaits_keeps_nothing_of_event_loops_that_are_over(
    api: RunningApi, token_of: dict[str, str]
) -> None:
    client, loops = AsyncClient(api.url, token_of["vision"]), list[weakref.ref[Any]]()

    async def ask() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await client.api.list_jobs()

    for _ in range(3):
        asyncio.run(ask())
    gc.collect()
    assert [one() is None for one in loops] == [True, True, False]  # it may go on
    asyncio.run(client.close())
    gc.collect()
    assert loops[-1]() is None


def test_a_folder_of_data_is_uploaded_by_who_awaits_as_by_who_blocks(
    api: RunningApi, token_of: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("1,2\n")

    readers = list[str]()

    def note(_read: int, _total: int) -> None:
        readers.append(threading.current_thread().name)

    async def upload() -> tuple[bool, str]:
        async with AsyncClient(api.url, token_of["vision"]) as client:
            sent = await client.upload_data("rows", tmp_path, on_read=note)
            return sent.is_new, sent.digest

    first = asyncio.run(upload())
    assert readers
    assert threading.main_thread().name not in readers  # whose event loop has other things to do
    with Client(api.url, token_of["vision"]) as client:
        again = client.data.upload("rows", tmp_path, team="vision")
        assert [one["name"] for one in client.data.list()] == ["rows"]
    assert (first, again.is_new) == ((True, again.digest), False)


def test_who_cancels_an_upload_does_not_wait_until_all_is_read(
    api: RunningApi, token_of: dict[str, str], tmp_path: Path
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.bin").write_bytes(bytes(4 << 20))
    reads, reading, is_cancelled = list[int](), threading.Event(), threading.Event()

    def note(read: int, _total: int) -> None:
        reads.append(read)
        reading.set()
        is_cancelled.wait(60.0)

    async def upload() -> None:
        async with AsyncClient(api.url, token_of["vision"]) as client:
            sent = asyncio.create_task(client.upload_data("zeros", tmp_path, on_read=note))
            await asyncio.to_thread(reading.wait, 60.0)
            sent.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sent
            is_cancelled.set()

    asyncio.run(upload())
    assert reads == [4 << 20]
