"""What does one of the hostile tenant's programs do? One kind of attack, until it is ended.

`python -m benchmarks.hostile_tenant.attack KIND TARGET NICE`; `TARGET` is a file that says whom;
beside it the program leaves how it was answered.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import count, cycle
from pathlib import Path

from benchmarks.hostile_tenant import specs
from benchmarks.hostile_tenant.flood import step_back
from benchmarks.hostile_tenant.wire import Connection, Target, document

READ_CONNECTIONS = 64
SLOW_BODIES = 150
SILENT_CONNECTIONS = 600
FOLLOWERS = 60
_TROUBLE = (OSError, TimeoutError, asyncio.IncompleteReadError, IndexError, ValueError)
Story = Callable[[Target, Connection], Awaitable[None]]


async def repeated(target: Target, story: Story) -> None:
    """Play a story on one connection; on a new one whenever the service ends it."""
    while True:
        try:
            connection = await target.open()
        except OSError:
            target.seen["no connection"] += 1
            await asyncio.sleep(0.05)
            continue
        try:
            await story(target, connection)
        except _TROUBLE as trouble:
            target.seen[type(trouble).__name__] += 1
            await asyncio.sleep(0.02)
        finally:
            connection.close()


def many(target: Target, story: Story, connections: int) -> list[Awaitable[None]]:
    return [repeated(target, story) for _ in range(connections)]


async def reading(target: Target, connection: Connection) -> None:
    """Everything there is, the largest of it."""
    job = target.jobs[0]
    paths = (
        "/api/v1/jobs?limit=200",
        "/api/v1/jobs?search=e&state=queued&limit=200",
        f"/api/v1/jobs/{job}/metrics?points=5000",
        f"/api/v1/jobs/{job}/explain",
        f"/api/v1/jobs/{job}/events",
        "/api/v1/cluster/utilisation?minutes=1440",
        "/api/v1/cluster/summary",
        "/api/v1/pools",
        "/api/v1/teams/language/standing",
        "/api/v1/teams",
        "/",
        "/api/v1/none-such",
    )
    for path, token in zip(cycle(paths), cycle(target.tokens), strict=False):
        await connection.ask(target.request("GET", path, token=token))


async def submitting(target: Target, connection: Connection) -> None:
    """Extreme specs, new ones for those that are cancelled."""
    extremes = specs.extremes()
    for number, token in zip(count(), cycle(target.tokens), strict=False):
        spec = {**extremes[number % len(extremes)], "name": f"again-{os.getpid()}-{number}"}
        ask = target.request("POST", "/api/v1/jobs", token=token, body=document(spec))
        status, body = await connection.ask(ask)
        await connection.ask(
            target.request("POST", "/api/v1/jobs:validate", token=token, body=document(spec))
        )
        if status == 201 and number % 2:
            path = f"/api/v1/jobs/{json.loads(body)['id']}/cancel"
            await connection.ask(target.request("POST", path, token=token, body=b"{}"))


async def guessing(target: Target, connection: Connection) -> None:
    """Passwords, of people who are there and of others."""
    for number in count():
        name = "admin" if number % 3 else f"nobody-{number}"
        body = document({"username": name, "password": f"guess-{number}"})
        await connection.ask(target.request("POST", "/api/v1/session", body=body))
        await connection.ask(target.request("GET", "/admin/login/"))
        await connection.ask(
            target.request("GET", "/api/v1/jobs", token=f"ct_guess{number}", body=b"")
        )


async def sending(target: Target, connection: Connection) -> None:
    """The largest bodies that are read."""
    large = document({"name": "large", "command": ["x" * 4096] * 120})
    deep = b"[" * 60_000
    for token in cycle(target.tokens):
        await connection.ask(target.request("POST", "/api/v1/simulations", token=token, body=large))
        await connection.ask(
            target.request("POST", "/api/v1/jobs:validate", token=token, body=deep)
        )


async def sending_slowly(target: Target, connection: Connection) -> None:
    """A body that stays on its way; every second one announces no length."""
    token = target.tokens[id(connection) % len(target.tokens)]
    if id(connection) // 64 % 2:
        head = (
            f"POST /api/v1/simulations HTTP/1.1\r\nHost: 127.0.0.1:{target.port}\r\nAuthorization:"
            f" Bearer {token}\r\nTransfer-Encoding: chunked\r\n\r\n"
        ).encode()
        piece = b"fff8\r\n" + b" " * 0xFFF8 + b"\r\n"
    else:
        head = target.request("POST", "/api/v1/simulations", token=token, announces=500_000)
        piece = b" " * 60_000
    connection.writer.write(head)
    for _ in range(7):
        connection.writer.write(piece)
        await connection.writer.drain()
        await asyncio.sleep(2.5)
    status = (await connection.reader.readline()).split()[1]
    target.seen[status.decode()] += 1


async def saying_nothing(target: Target, connection: Connection) -> None:
    """A connection that stands there, with half of a request."""
    connection.writer.write(b"GET /api/v1/jobs HTTP/1.1\r\nHost: ")
    await connection.reader.read(1)
    target.seen["closed"] += 1


async def following(target: Target, connection: Connection) -> None:
    """A log that grows without end; every second follower does not read."""
    token = target.tokens[id(connection) % len(target.tokens)]
    path = f"/api/v1/jobs/{target.jobs[id(connection) // 64 % len(target.jobs)]}/logs"
    if id(connection) // 128 % 4 == 0:
        await connection.ask(target.request("GET", f"{path}?tail=10000", token=token))
        return
    connection.writer.write(target.request("GET", f"{path}?follow=true", token=token))
    status = (await connection.reader.readline()).split()[1].decode()
    target.seen[status] += 1
    if status != "200":
        await asyncio.sleep(0.05)
        return
    if id(connection) // 64 % 2:
        await asyncio.sleep(3600)
    while await connection.reader.read(2**18):
        target.seen["pieces of logs"] += 1


async def reporting(target: Target, connection: Connection) -> None:
    """Reports of the right coordinator, as large as they may be, and some of nobody's."""
    bodies = {job: specs.report(term=term) for job, (_, term) in target.reporting.items()}
    for job, (token, _) in cycle(list(target.reporting.items())):
        path = f"/internal/v1/jobs/{job}/sync"
        await connection.ask(target.request("POST", path, token=token, body=bodies[job]))
        await connection.ask(target.request("POST", path, token=job, body=bodies[job][:9]))


async def writing(target: Target, connection: Connection) -> None:
    """The same few rows, from many connections."""
    job = target.jobs[-1]
    for number, token in zip(count(), cycle(target.tokens), strict=False):
        for verb in ("pin", "unpin"):
            path = f"/api/v1/jobs/{job}/{verb}"
            await connection.ask(target.request("POST", path, token=token, body=b"{}"))
        path = f"/api/v1/teams/language/secrets/S{number % 3}"
        body = document({"value": "x" * 4000})
        await connection.ask(target.request("PUT", path, token=token, body=body))


KINDS: dict[str, tuple[tuple[Story, int], ...]] = {
    "reads": ((reading, READ_CONNECTIONS),),
    "writes": ((submitting, 12), (writing, 12), (reporting, 8)),
    "logs": ((following, FOLLOWERS),),
    "bodies": ((sending, 16), (sending_slowly, SLOW_BODIES), (saying_nothing, SILENT_CONNECTIONS)),
    "guesses": ((guessing, 24),),
}


async def attack(target: Target, kind: str) -> None:
    stories = KINDS[kind]
    tasks = [one for story, number in stories for one in many(target, story, number)]
    everything = asyncio.gather(*tasks)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, everything.cancel)
    try:
        await everything
    except asyncio.CancelledError:
        return


def main() -> None:
    kind, where = sys.argv[1], Path(sys.argv[2])
    step_back(int(sys.argv[3]))
    document = json.loads(where.read_text())
    target = Target(
        port=document["port"],
        tokens=tuple(document["tokens"]),
        jobs=tuple(document["jobs"]),
        reporting={job: (token, term) for job, (token, term) in document["reporting"].items()},
        seen=Counter(),
    )
    asyncio.run(attack(target, kind))
    where.with_name(f"{kind}-{os.getpid()}.json").write_text(json.dumps(target.seen))


if __name__ == "__main__":
    main()
