"""Who asks for a tick before its time, and how many ticks that makes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from celery import signals
from cluster.in_memory_host import InMemoryHost
from cluster.worker_host import Labels, Launch, ProcessRole, WorkerHost
from django.conf import settings

from autoscaler.control_loop import tasks, wakeup_flag, wiring
from autoscaler.control_loop.wakeup import ask, triggers, watch
from jobs.changes.demand_signal import demand_changed


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """What was sent to the queue, with the real Redis deciding whether."""
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(tasks.tick, "apply_async", lambda **options: sent.append(options))
    with redis.Redis.from_url(settings.CONCERTINA.redis_url) as client:
        client.delete("concertina:tick-is-asked-for")
        monkeypatch.setattr(ask, "ask_for_tick", ask.Asker().ask)  # which has asked for none
        yield sent
        client.delete("concertina:tick-is-asked-for")


def test_many_who_ask_get_one_tick(asked: list[dict[str, Any]]) -> None:
    assert [ask.ask_for_tick() for _ in range(5)] == [True, False, False, False, False]
    assert len(asked) == 1


def test_who_asks_often_has_one_connection_to_redis_and_another_when_that_is_lost(
    asked: list[dict[str, Any]],
) -> None:
    with redis.Redis.from_url(settings.CONCERTINA.redis_url) as client:

        def made() -> int:
            return int(client.info("stats")["total_connections_received"])

        wakeup_flag.lower_flag()
        before = made()
        assert [wakeup_flag.raise_flag() for _ in range(20)] == [True] + 19 * [False]
        assert made() == before
        ours = wakeup_flag.kept_client()
        client.client_kill_filter(_id=ours.client_id())
        wakeup_flag.lower_flag()
        assert wakeup_flag.raise_flag()
        assert made() <= before + 2
    assert asked == []


def test_who_asks_after_the_tick_began_gets_another(asked: list[dict[str, Any]]) -> None:
    now = 0.0
    asker = ask.Asker(clock=lambda: now)
    asker.ask()
    wakeup_flag.lower_flag()
    now = ask.DEBOUNCE_SECONDS
    assert asker.ask()
    assert len(asked) == 2


def test_what_happens_before_the_tick_can_begin_is_served_by_it_without_asking(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = list[bool]()
    monkeypatch.setattr(ask, "raise_flag", lambda: flags.append(True) or True)
    moments = iter((0.0, 0.1, ask.SERVED_SECONDS + 0.1, ask.DEBOUNCE_SECONDS + 0.1))
    asker = ask.Asker(clock=lambda: next(moments))
    assert [asker.ask() for _ in range(4)] == [True, False, True, False]
    assert (len(asked), len(flags)) == (2, 2)
    assert ask.SERVED_SECONDS < ask.DEBOUNCE_SECONDS


def test_changed_demand_asks_for_a_tick(asked: list[dict[str, Any]]) -> None:
    triggers.connect()
    demand_changed.send(sender=None, job_id="any")
    assert len(asked) == 1


def test_a_redis_that_is_away_costs_only_the_quick_tick(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere = replace(settings.CONCERTINA, redis_url="unix:///nowhere/valkey.sock")
    monkeypatch.setattr(settings, "CONCERTINA", nowhere)
    assert not ask.ask_for_tick()
    wakeup_flag.lower_flag()
    assert asked == []
    assert "could not be asked for" in caplog.text


def test_the_watch_notices_starts_and_exits() -> None:
    host = InMemoryHost()
    noticed = threading.Semaphore(0)
    labels = Labels(process_id="w1", job_id="job1", role=ProcessRole.WORKER, attempt=1, fence=1)

    def watch_until_told() -> None:
        with pytest.raises(_Enough):
            watch.watch(host, notice, poll_seconds=0.01)

    count = 0

    def notice() -> None:
        nonlocal count
        count += 1
        noticed.release()
        if count == 2:
            raise _Enough

    thread = threading.Thread(target=watch_until_told)
    thread.start()
    host.start(Launch(labels=labels, command=("sh",), env={}, node="n1"))
    assert noticed.acquire(timeout=90)
    host.exit("w1", 0)
    assert noticed.acquire(timeout=90)
    thread.join(90)
    assert not thread.is_alive()


def test_the_watch_uses_no_host_that_a_child_forked_later_would_tick_with(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    watched: list[WorkerHost] = []
    monkeypatch.setattr(watch, "start_watching", lambda host, _: watched.append(host))
    triggers.connect()
    signals.worker_ready.send(sender=_ControlWorker())
    (host,) = watched
    assert host is not wiring.worker_host()
    assert len(asked) == 1


class _ControlWorker:
    """As much of Celery's as tells which queues it serves."""

    app = SimpleNamespace(
        amqp=SimpleNamespace(queues=SimpleNamespace(consume_from=[triggers.CONTROL_QUEUE]))
    )


class _Enough(BaseException):
    """Ends a watch, which no ordinary exception does."""
