"""Is every answer of the API as docs/openapi.yaml says, whatever it is asked?

Schemathesis makes up the requests, fitting ones and others, and judges the answers.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import schemathesis
import yaml
from django.core.cache import cache
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import strategies as st
from rest_framework.test import APIClient
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks

from tests.fuzz.conftest import Fuzz
from tests.service.world import World, client

EXAMPLES: Final = 60  # of each sender, in the suite
DESCRIPTION: Final = Path(__file__).parents[2] / "docs" / "openapi.yaml"


@contextmanager
def one_connection() -> Iterator[None]:
    """The test's transaction goes on from one request to the next."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


@functools.cache
def described() -> Any:
    document = yaml.load(DESCRIPTION.read_text(), Loader=yaml.CSafeLoader)
    logs = document["paths"]["/api/v1/jobs/{job_id}/logs"]["get"]
    # A stream goes on for as long as its job does, or for minutes.
    logs["parameters"] = [one for one in logs["parameters"] if one["name"] != "follow"]
    del document["paths"]["/api/v1/events/stream"]
    schema = schemathesis.openapi.from_dict(document)
    schema.app = get_wsgi_application()
    return schema


def requests_about(world: World) -> st.SearchStrategy[Any]:
    """About what is there, and about anything; as described, and not."""
    found = []
    for operation in (one.ok() for one in described().get_all_operations()):
        there = world.parameters(operation.path)
        known = {name: there[name] for name in there if f"{{{name}}}" in operation.path}
        for mode in GenerationMode:
            found.append(operation.as_strategy(generation_mode=mode))
            if known:
                found.append(operation.as_strategy(generation_mode=mode, path_parameters=known))
    return st.one_of(found)


# Downloads are streams for an event loop, which WSGI reads to their end all the same.
@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume asynchronous iterators")
@pytest.mark.parametrize("sender", ["token", "admin"])
def test_every_answer_is_as_described(sender: str, world: World, fuzz: Fuzz) -> None:
    headers, cookies = proof(client(sender, world))
    headers["Accept-Encoding"] = "identity"  # Schemathesis asks for more than it can read by WSGI

    def holds(case: Any) -> None:
        with transaction.atomic():
            cache.clear()
            response = case.call(headers=headers, cookies=cookies)
            case.validate_response(response, excluded_checks=excluded(case))
            transaction.set_rollback(True)

    with one_connection():
        fuzz(requests_about(world), holds, in_suite=EXAMPLES)


def excluded(case: Any) -> list[Any]:
    """What does not hold by intention."""
    found = [checks.ignored_auth]  # test_access_matrix.py tries every operation as everybody
    # A policy or a pool that is well-formed need not exist, and a cursor is made by an answer only.
    query = case.query or {}
    if case.method != "GET" or query.get("cursor") or query.get("before"):
        found.append(checks.positive_data_acceptance)
    match case.operation.definition.raw["operationId"]:
        case "validate_job":
            found.append(checks.negative_data_rejection)  # what is wrong with a spec is its answer
        case "follow_reads":  # which addresses can be live is said in words, not in the schema
            found.append(checks.positive_data_acceptance)
        case (
            "list_usage" | "get_fairness_receipt" | "list_prices"
        ):  # so are days, time zones, and what can be told apart at once
            found.append(checks.positive_data_acceptance)
    return found


def proof(speaks: APIClient) -> tuple[dict[str, str], dict[str, str]]:
    """The headers and cookies by which this client says who it is."""
    answer = speaks.get("/api/v1/session")
    cookies = {name: morsel.value for name, morsel in speaks.cookies.items()}
    if answer.status_code == 200:
        return {"X-CSRFToken": cookies["csrftoken"]}, cookies
    return {"Authorization": answer.request["HTTP_AUTHORIZATION"]}, {}
