"""Are bodies of requests bounded while they are read, and never taken for none?"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from control_plane.configuration.limit_settings import LARGEST_BODY, LARGEST_BULK
from control_plane.front.bodies import BoundedBodies
from control_plane.front.callers import CALLER
from control_plane.front.wiring import in_front_of, largest_bodies
from control_plane.web.body_parsers import LARGEST_YAML
from control_plane.web.whole_requests import WholeRequestsHandler
from django.db import connections
from pytest_django import Settings
from rest_framework.test import APIClient

from concertina_worker.protocol import LARGEST_REPORT_BYTES
from tests.service.front.asking import Recorder, ask, scope_of


def bounded(inner: Recorder, **changes: float) -> BoundedBodies:
    bounds = {"longest_seconds": 60.0, "most_held_bytes": 1000, **changes}
    return BoundedBodies(
        inner,
        largest_of=lambda scope: 10 if scope["path"] == "/small" else 500,
        longest_seconds=bounds["longest_seconds"],
        most_held_bytes=int(bounds["most_held_bytes"]),
    )


def test_a_body_in_pieces_arrives_whole_and_with_its_length() -> None:
    inner = Recorder()
    asyncio.run(ask(bounded(inner), "POST", "/x", pieces=[b"ab", b"", b"cd"]))
    assert inner.bodies == [b"abcd"]
    assert (b"content-length", b"4") in inner.scopes[0]["headers"]


def test_a_length_of_thousands_of_digits_is_too_large() -> None:
    told = asyncio.run(
        ask(bounded(Recorder()), "POST", "/x", headers={"Content-Length": "9" * 5000})
    )
    assert told.status == 413


def test_a_request_without_a_body_stays_one() -> None:
    inner = Recorder()
    asyncio.run(ask(bounded(inner), "GET", "/x"))
    assert inner.bodies == [b""]
    assert all(name != b"content-length" for name, _ in inner.scopes[0]["headers"])


def test_what_is_announced_as_too_large_is_refused_unread() -> None:
    inner = Recorder()
    answer = asyncio.run(
        ask(bounded(inner), "POST", "/small", headers={"Content-Length": "11"}, pieces=[])
    )
    assert (answer.status, answer.json()["code"]) == (413, "too_large")
    assert "at most 10 bytes" in answer.json()["message"]
    assert not inner.bodies


def test_what_turns_out_too_large_is_refused_before_its_end() -> None:
    inner = Recorder()
    answer = asyncio.run(
        ask(bounded(inner), "POST", "/small", pieces=[b"12345678", b"901"], never_ends=True)
    )
    assert (answer.status, answer.headers["connection"]) == (413, "close")
    assert not inner.bodies


def test_a_body_that_does_not_end_in_time_is_given_up() -> None:
    inner = Recorder()
    slow = bounded(inner, longest_seconds=0.01)
    answer = asyncio.run(ask(slow, "POST", "/x", pieces=[b"12"], never_ends=True))
    assert (answer.status, answer.json()["code"]) == (408, "too_slow")
    assert not inner.bodies


def test_a_body_that_the_server_gave_up_waiting_for_is_answered() -> None:
    inner = Recorder()
    answer = asyncio.run(
        ask(bounded(inner), "POST", "/x", pieces=[b"12"], never_ends=True, is_given_up=True)
    )
    assert (answer.status, answer.json()["code"]) == (408, "too_slow")
    assert not inner.bodies


def test_one_callers_bodies_take_an_eighth_of_the_memory_and_give_it_back() -> None:
    one = bounded(Recorder(), most_held_bytes=800)
    refused = asyncio.run(ask(one, "POST", "/x", pieces=[b"x" * 60, b"x" * 60]))
    assert (refused.status, refused.headers["retry-after"]) == (503, "2")
    assert asyncio.run(ask(one, "POST", "/x", pieces=[b"x" * 100])).status == 200


@pytest.mark.parametrize(("addresses", "fit"), [(9, 8), (1, 4)])
def test_all_bodies_together_take_a_bounded_memory_and_those_of_an_address_half_of_it(
    addresses: int, fit: int
) -> None:
    async def story() -> list[int]:
        may_end = asyncio.Event()
        inner = Recorder(before=lambda _: may_end.wait())
        one = bounded(inner, most_held_bytes=80)
        sent = [
            asyncio.create_task(
                ask(one, "POST", "/x", pieces=[b"x" * 10], caller=f"caller-{n}",
                    address=f"192.0.2.{n % addresses}")
            )
            for n in range(fit + 1)
        ]  # fmt: skip
        while not any(task.done() for task in sent):  # noqa: ASYNC110 - the one without room
            await asyncio.sleep(0)
        may_end.set()
        return sorted(answer.status for answer in await asyncio.gather(*sent))

    assert asyncio.run(story()) == [200] * fit + [503]


def test_an_address_has_so_many_bodies_on_their_way_and_others_send_theirs() -> None:
    async def story() -> tuple[list[int], int]:
        one = BoundedBodies(Recorder(), largest_of=lambda _: 500, most_at_once=3)
        slow = [
            asyncio.create_task(
                ask(one, "POST", "/x", pieces=[b"x"], never_ends=True, caller=f"caller-{n}")
            )
            for n in range(3)
        ]
        await asyncio.sleep(0)
        answers = [
            await ask(one, "POST", "/x", pieces=[b"x"], address=address)
            for address in ("192.0.2.1", "192.0.2.2")
        ]
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        answers.append(await ask(one, "POST", "/x", pieces=[b"x"]))
        return [answer.status for answer in answers], answers[0].body.count(b"overloaded")

    assert asyncio.run(story()) == ([503, 200, 200], 1)


def test_a_whole_report_is_read_only_from_who_has_the_jobs_token() -> None:
    largest_of = largest_bodies(spec_bytes=1000)
    scope = scope_of("POST", "/internal/v1/jobs/abc/sync", {})
    assert largest_of(scope) == 1000
    assert largest_of({**scope, CALLER: "job:abc"}) == LARGEST_REPORT_BYTES
    assert largest_of({**scope, "path": "/api/v1/jobs", CALLER: "token:1"}) == 1000
    assert largest_of({**scope, "path": "/api/v1/simulations"}) == LARGEST_BODY
    assert largest_of({**scope, "path": "/api/v1/jobs:bulk"}) == LARGEST_BULK


@pytest.mark.parametrize("kind", ["application/json", "application/yaml"])
def test_a_spec_has_64_kilobytes_in_either_language(api: APIClient, kind: str) -> None:
    text = json.dumps({"name": "big", "command": ["true"], "labels": {"a": "x" * 65_000}})
    assert len(text) < 65_536
    assert api.post("/api/v1/jobs:validate", text, content_type=kind).status_code == 200
    answer = api.post("/api/v1/jobs:validate", text + " " * 600, content_type=kind)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert "at most 65536 bytes" in answer.json()["message"]


def test_a_bulk_has_2_megabytes_in_json_and_64_kilobytes_in_yaml(api: APIClient) -> None:
    bulk = {"jobs": [{"name": "big", "command": ["true"], "labels": {"a": "b" * 4000}}]}
    for kind, largest in (("application/json", LARGEST_BULK), ("application/yaml", LARGEST_YAML)):
        text = json.dumps(bulk).ljust(largest)
        assert api.post("/api/v1/jobs:bulk", text, content_type=kind).status_code in {201, 409}
        answer = api.post("/api/v1/jobs:bulk", text + " ", content_type=kind)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.django_db(transaction=True)
def test_a_spec_without_an_announced_length_is_read(
    api: APIClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", 0)
    settings.CONCERTINA = replace(settings.CONCERTINA, redis_url="unix:///nowhere/at/all")
    application = in_front_of(WholeRequestsHandler())
    key = api._credentials["HTTP_AUTHORIZATION"]  # noqa: SLF001 - DRF tells it no other way
    spec = json.dumps({"name": "chunked", "command": ["true"]}).encode()
    headers = {"Authorization": key, "Content-Type": "application/json"}
    answer = asyncio.run(
        ask(application, "POST", "/api/v1/jobs:validate", headers=headers,
            pieces=[spec[:5], spec[5:]])
    )  # fmt: skip
    assert answer.status == 200
    assert answer.json()["problems"] == []
