"""Is it told why a call failed, and nothing that is secret with it?"""

from __future__ import annotations

import socket

import pytest
from storage.data.destinations import Reach
from tenancy.models import Team
from webhooks.delivery.calls import WebhookReach

from jobs.models import Job
from tests.service.webhooks.conftest import add, fill, happen, problem, row, send, tell
from tests.service.webhooks.receiver import Receiver, nowhere


def test_why_an_address_is_refused_is_said(vision: Team, job: Job, receiver: Receiver) -> None:
    add(vision, receiver.url + "/hook")
    happen(job)
    fill()
    reach = Reach(is_public=False, setting="CONCERTINA_WEBHOOK_NETWORKS")
    send(rules=lambda: WebhookReach(encrypted=reach, plain=reach))
    assert problem() == (
        "Without TLS it may lead only to what is listed in CONCERTINA_WEBHOOK_NETWORKS."
        " Ask an admin."
    )


def test_which_address_a_name_leads_to_is_told_to_admins_only(
    vision: Team, job: Job, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    port = receiver.url.rpartition(":")[2]
    add(vision, f"https://localhost:{port}/SECRET")
    happen(job)
    fill()
    send(rules=nowhere)
    assert problem().startswith("It leads to an address that is not public")
    for secret in ("127.0.0.1", "::1", "SECRET"):
        assert secret not in str(row().tries)
    assert "is private" in caplog.text
    assert "SECRET" not in caplog.text


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "It closed the connection without an answer."),
        (b"SECRET\x00garbage\r\n\r\n", "What it answered is not HTTP, or its head is too long."),
        (b"HTTP/1.1 200 OK\r\nSECRET\x00: c\r\n\r\n", "What it answered is not HTTP, or its head"),
        (
            b"HTTP/1.1 200 OK\r\n" + b"SECRET: x\r\n" * 200 + b"\r\n",
            "What it answered is not HTTP, or its head is too long.",
        ),
    ],
    ids=["closes", "garbage", "header", "many headers"],
)
def test_neither_its_address_nor_its_answer_gets_into_the_log(
    raw: bytes, told: str, vision: Team, job: Job, receiver: Receiver
) -> None:
    receiver.raw_answers["/SECRET"] = raw
    add(vision, receiver.url + "/SECRET")
    happen(job)
    tell()
    assert problem().startswith(told)
    assert "SECRET" not in str(row().tries)


@pytest.mark.parametrize("url", ["https://ex\\ample/SECRET", "https://a..b/SECRET"])
def test_of_an_address_that_cannot_be_called_nothing_gets_into_the_log(
    url: str, vision: Team, job: Job
) -> None:
    add(vision, url)
    happen(job)
    tell()
    assert problem()
    assert "SECRET" not in str(row().tries)


def test_why_there_is_no_connection_is_said(vision: Team, job: Job) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    add(vision, f"http://127.0.0.1:{port}/SECRET")
    happen(job)
    tell()
    assert problem() == "No connection to it, or it broke off: Connection refused."
