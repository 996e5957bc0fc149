"""Is everything delivered whenever its sender is killed, at whichever line? Another goes on."""

from __future__ import annotations

import functools
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import webhooks
from cluster.models import Node, Pool
from django.db import connection
from webhooks.models import WebhookDelivery

from jobs.models import Event, Job
from tests.campaigns import rounds
from tests.polling import pause
from tests.service.conftest import client_of, make_team, spec
from tests.service.webhooks.conftest import add, fill, ids, send, tell
from tests.service.webhooks.receiver import Receiver

FOLDER: Final = str(Path(webhooks.__file__).parent)
LATER: Final = timedelta(minutes=5)  # when every claim is over
EVENTS: Final = 3


class DeathAtLine:
    """Kills this process at its n-th line of what sends webhooks, in whichever thread."""

    def __init__(self, line: float) -> None:
        self.count = 0
        self._line = line
        self._lock = threading.Lock()

    def install(self) -> None:
        threading.settrace(self)
        sys.settrace(self)

    def __call__(self, frame: Any, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        if event == "line":
            with self._lock:
                self.count += 1
                if self.count >= self._line:
                    os.kill(os.getpid(), signal.SIGKILL)
        return self


def in_a_child(act: Callable[[], int]) -> int:
    """What it returns in a process of its own, with a connection of its own; -1: it was killed."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        kept, connection.connection = connection.connection, None  # the parent's: not to be closed
        try:
            os.write(write, str(act()).encode())
        finally:
            os._exit(0 if kept is not None else 1)
    os.close(write)
    with os.fdopen(read, "rb") as told:
        text = told.read()
    _, status = os.waitpid(child, 0)
    return -1 if os.WIFSIGNALED(status) else int(text)


def tell_and_die(line: float) -> int:
    death = DeathAtLine(line)
    death.install()
    tell()
    return death.count


@pytest.fixture
def committed_job(transactional_db: None, receiver: Receiver) -> Job:
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    team = make_team("vision", pool, guaranteed=2, limit=None)
    answer = client_of(team).post("/api/v1/jobs", spec(), format="json")
    assert answer.status_code == 201, answer.json()
    fill()
    add(team, receiver.url + "/one", name="one")
    add(None, receiver.url + "/other", name="other")
    return Job.objects.get(pk=answer.json()["id"])


@pytest.fixture(scope="module")
def lines() -> dict[str, int]:
    """The fewest that a sender went through whom nobody killed: fewer if it had to wait less."""
    return {}


@pytest.mark.parametrize("seed", range(rounds(40)))
def test_each_event_is_delivered_and_counted_once(
    seed: int, committed_job: Job, receiver: Receiver, lines: dict[str, int]
) -> None:
    chance, is_killed = random.Random(seed), False  # noqa: S311 - chance
    while not is_killed:
        happen(committed_job, receiver)
        line = chance.randint(1, lines["fewest"]) if lines else float("inf")
        count = in_a_child(functools.partial(tell_and_die, line))
        is_killed = count == -1
        if not is_killed:
            assert count > 100
            lines["fewest"] = min(count, lines.get("fewest", count))
            assert_all_delivered(receiver)
    began = time.monotonic()
    while not has_gone_on() and time.monotonic() - began < 120:
        pause(began)
    assert_all_delivered(receiver)


def happen(job: Job, receiver: Receiver) -> None:
    """Something new happens, and what was is forgotten."""
    Event.objects.bulk_create(Event(job=job, kind="idle") for _ in range(EVENTS))
    WebhookDelivery.objects.all().delete()
    receiver.received.clear()


def has_gone_on() -> bool:
    """The database may still be about to notice that the one who was killed is gone."""
    fill()
    send(after=LATER)
    return WebhookDelivery.objects.filter(state="delivered").count() == EVENTS * 2


def assert_all_delivered(receiver: Receiver) -> None:
    rows = WebhookDelivery.objects.select_related("webhook")
    assert {row.state for row in rows} == {"delivered"}
    for name in ("one", "other"):
        own = [row for row in rows if row.webhook.name == name]
        assert len({row.event_id for row in own}) == len(own) == EVENTS
        assert set(ids(receiver.at(f"/{name}"))) == {str(row.pk) for row in own}
