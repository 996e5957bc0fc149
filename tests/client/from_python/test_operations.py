"""Can both clients ask for everything that the API has? Nothing is sent here."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from concertina import BadInput
from concertina.api.asynchronous import AsyncApi
from concertina.api.blocking import BlockingApi
from concertina.api.request import ApiRequest, as_version, segment

DESCRIPTION = Path(__file__).parents[3] / "docs/openapi.yaml"
SENT_BY_ITSELF = {"If-None-Match", "format", "follow"}
"""What a browser's cache sends, and what goes with the kind of answer that a method returns."""
HEADERS_OF_BODIES = {"Content-Type"}


class Recorder:
    """Takes requests in place of both senders."""

    def __init__(self) -> None:
        self.requests: list[ApiRequest] = []

    def answer(self, request: ApiRequest) -> Any:
        self.requests.append(request)

    text = file = events = answer


class AwaitedRecorder(Recorder):
    async def answer(self, request: ApiRequest) -> Any:
        self.requests.append(request)

    text = answer

    def file(self, request: ApiRequest) -> Any:
        self.requests.append(request)

    events = file


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    description = yaml.load(DESCRIPTION.read_text(), Loader=yaml.CSafeLoader)
    for path, verbs in description["paths"].items():
        for verb, operation in verbs.items():
            if verb in {"get", "post", "put", "patch", "delete"}:
                yield verb.upper(), path.removeprefix("/api/v1"), operation


def names_of(api: type[Any]) -> list[str]:
    return [name for name in vars(api) if not name.startswith("_")]


def filled(parameter: inspect.Parameter) -> Any:
    return {"version": "7", "body": {"a": 1}, "content": b"bytes"}.get(parameter.name, "x")


def asked_of(api: Any) -> list[ApiRequest]:
    """Call every method with all that it takes; return what was sent."""

    async def ask() -> None:
        for name in names_of(type(api)):
            parameters = inspect.signature(getattr(api, name)).parameters.values()
            named = {one.name: filled(one) for one in parameters if one.kind is one.KEYWORD_ONLY}
            others = [filled(one) for one in parameters if one.kind is not one.KEYWORD_ONLY]
            came = getattr(api, name)(*others, **named)
            if inspect.isawaitable(came):
                await came

    asyncio.run(ask())
    requests: list[ApiRequest] = api._sender.requests  # noqa: SLF001 - ours
    return requests


@pytest.fixture(scope="module")
def blocking() -> list[ApiRequest]:
    return asked_of(BlockingApi(cast("Any", Recorder())))


def test_every_operation_is_reached_with_all_that_it_takes(blocking: list[ApiRequest]) -> None:
    sent = defaultdict(set[str])
    for request in blocking:
        told = {*request.params, *request.headers} | ({"body"} if request.body else set())
        sent[request.method, request.path] |= told | ({"body"} if request.content else set())
    for verb, path, operation in operations():
        address = verb, re.sub(r"\{(\w+)\}", lambda name: VALUES.get(name[1], "x"), path)
        takes = {one["name"] for one in operation.get("parameters", ()) if one["in"] != "path"}
        takes |= {"body"} if "requestBody" in operation else set()
        assert sent[address] - HEADERS_OF_BODIES - SENT_BY_ITSELF == takes - SENT_BY_ITSELF, path
    assert len(sent) == len(list(operations()))


VALUES = {"version": "7"}


def test_both_clients_ask_the_same_in_the_same_words(blocking: list[ApiRequest]) -> None:
    assert asked_of(AsyncApi(cast("Any", AwaitedRecorder()))) == blocking
    assert names_of(AsyncApi) == names_of(BlockingApi)
    for name in names_of(AsyncApi):
        ours, theirs = (
            inspect.signature(getattr(api, name)).parameters for api in (AsyncApi, BlockingApi)
        )
        assert ours == theirs


def test_each_operation_has_a_method_of_its_name(blocking: list[ApiRequest]) -> None:
    unnamed = {operation["operationId"] for *_, operation in operations()} - {
        *names_of(BlockingApi)
    }
    assert unnamed == set()


def test_what_is_read_piece_by_piece_is_opened(blocking: list[ApiRequest]) -> None:
    for api, kind in (
        (BlockingApi, AbstractContextManager),
        (AsyncApi, AbstractAsyncContextManager),
    ):
        answer = inspect.signature(api.get_job_output).return_annotation
        assert answer.startswith(kind.__name__)


def test_only_what_does_no_harm_twice_is_sent_twice(blocking: list[ApiRequest]) -> None:
    once = {request.path for request in blocking if not request.is_repeatable}
    assert {"/jobs/x/cancel", "/jobs/x", "/teams/x/tokens"} <= once
    assert not {"/jobs", "/jobs:bulk", "/sweeps", "/jobs/x/rerun"} & once


def test_a_key_is_made_where_none_is_given_and_kept_where_one_is() -> None:
    recorder = Recorder()
    api = BlockingApi(recorder)
    for key in (None, None, "pipeline-7"):
        api.submit_job({"name": "a", "command": ["a"]}, idempotency_key=key)
    first, second, third = (one.headers["Idempotency-Key"] for one in recorder.requests)
    assert (first != second, third) == (True, "pipeline-7")
    with pytest.raises(BadInput, match="idempotency key"):
        api.submit_job({"name": "a", "command": ["a"]}, idempotency_key="schlüssel")


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_would_lead_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="not a name"):
        segment(name)


def test_values_are_written_as_the_service_reads_them() -> None:
    request = ApiRequest.of(
        "GET",
        "/jobs",
        params={
            "count": True,
            "since": datetime(2026, 11, 29, tzinfo=UTC),
            "label": ("a", "b"),
            "team": None,
        },
        headers={"If-Match": as_version('"7"'), "Range": None},
    )
    assert request.params == {
        "count": "true",
        "since": "2026-11-29T00:00:00+00:00",
        "label": ["a", "b"],
    }
    assert request.headers == {"If-Match": '"7"'}
    assert segment("a/b c") == "a%2Fb%20c"
    assert segment(date(2026, 11, 29)) == "2026-11-29"
