"""How many messages do webhooks get in a minute? Run `python -m benchmarks.api_cost.telling`.

So many webhooks (`--webhooks`) are told of so many events (`--events`) by what `io` runs; the
receiver is a process of its own on this machine, which answers after so many milliseconds
(`--answer-ms`). Prints processor milliseconds of this process and of PostgreSQL for each message,
statements for all, and messages a minute by the clock.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any, Final

from benchmarks.api_cost.own_database import Cost, cost_of, own_service

_RECEIVER: Final = """
import asyncio, sys

async def answer(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            lines = head.lower().split(b"\\r\\n")
            length = next(int(one.split(b":")[1]) for one in lines if one.startswith(b"content-l"))
            await reader.readexactly(length)
            await asyncio.sleep(float(sys.argv[1]) / 1000)
            writer.write(b"HTTP/1.1 204 No Content\\r\\n\\r\\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--webhooks", type=int, default=3)
    parser.add_argument("--answer-ms", type=int, default=50)
    asked = parser.parse_args()
    receiver = subprocess.Popen(
        (sys.executable, "-c", _RECEIVER, str(asked.answer_ms)), stdout=subprocess.PIPE, text=True
    )
    try:
        assert receiver.stdout is not None
        port = int(receiver.stdout.readline())
        with own_service() as postgres:
            _happen(asked.events, asked.webhooks, port)
            print("| | io ms a message | PostgreSQL ms | statements | messages a minute |")
            print("|---|---|---|---|---|")
            count = asked.events * asked.webhooks
            _say("put into the outbox", *_timed(postgres, _fill), count)
            _say("sent", *_timed(postgres, _send), count)
            _check(count)
    finally:
        receiver.terminate()
        receiver.wait()


def _timed(postgres: int, act: Any) -> tuple[Cost, float]:
    began = time.monotonic()
    cost = cost_of(postgres, act)
    return cost, time.monotonic() - began


def _say(what: str, cost: Cost, seconds: float, count: int) -> None:
    print(
        f"| {what} | {1000 * cost.python_seconds / count:.2f}"
        f" | {1000 * cost.postgres_seconds / count:.2f} | {cost.statements:,}"
        f" | {60 * count / seconds:,.0f} |",
        flush=True,
    )


def _happen(events: int, webhooks: int, port: int) -> None:
    """Something happens that webhooks want to be told of."""
    from cluster.models import Pool  # noqa: PLC0415 - once Django is set up
    from django.utils import timezone  # noqa: PLC0415
    from tenancy.models import Team  # noqa: PLC0415
    from webhooks import hooks  # noqa: PLC0415

    from jobs.models import Event, Job  # noqa: PLC0415

    team, pool = Team.objects.create(name="vision"), Pool.objects.create(name="default")
    for number in range(webhooks):
        hooks.add(
            team=team,
            name=f"hook-{number}",
            url=f"http://127.0.0.1:{port}/{number}",
            shape="json",
            kinds=[],
            states=[],
            by="benchmark",
        )
    job = Job(id="benchmark", name="benchmark", team=team, pool=pool, state="running")
    job.spec = job.resolved_spec = {}
    job.submitted_by, job.state_since = "benchmark", timezone.now()
    job.save()
    Event.objects.bulk_create(
        Event(job=job, kind="idle", message="Nothing moves.") for _ in range(events)
    )


def _now() -> datetime:
    return datetime.now(UTC)


def _fill() -> None:
    from webhooks import outbox  # noqa: PLC0415

    while outbox.fill(_now(), service_url="https://concertina.example.com"):
        pass


def _send() -> None:
    from storage.data.destinations import Destination, Reach  # noqa: PLC0415
    from webhooks.delivery import rounds  # noqa: PLC0415
    from webhooks.delivery.calls import WebhookReach  # noqa: PLC0415

    here = Reach(listed=(Destination.parse("127.0.0.1"),), is_public=False)
    rules = WebhookReach(encrypted=here, plain=here)
    rounds.deliver(lambda: rules, clock=_now, has_time=lambda: True, fill=lambda: None)


def _check(count: int) -> None:
    from webhooks.models import WebhookDelivery  # noqa: PLC0415

    assert WebhookDelivery.objects.filter(state="delivered").count() == count


if __name__ == "__main__":
    main()
