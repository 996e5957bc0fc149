"""What do open overviews cost? `python -m benchmarks.service_load.open_pages [--jobs 100]`.

A stack of its own carries simulated jobs. Nobody looks; then one page is open, then several, first
pages that ask for each of their parts every two seconds, as they did, then pages to which all is
sent, as it is and compressed. Prints processor time of `api` and PostgreSQL beyond what they take
while nobody looks, and the bytes that a page got over its connection.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final

import httpx
from control_plane import database_roles
from local_stack.soak.counting.reading import SpentBetween, StackGauge
from local_stack.soak.measured_stack import MeasuredStack, measured_stack
from local_stack.soak.users.requests import Caller, refused, spec
from local_stack.stack import preparation

ASK_SECONDS: Final = 2.0
PAGES: Final = 50
PAGES_THAT_ASK: Final = 8
_OF_ONE_TOKEN: Final = 8  # as many streams as one may have
TEAM: Final = "vision"
_NEW_TOKENS: Final = """
from tenancy.access.keys import tokens
from tenancy.models import Team
team = Team.objects.get(name={team!r})
print(*(tokens.issue(team=team, name=f"viewer-{{number}}")[1] for number in range({count})))
"""
OTHERS: Final = (
    "/api/v1/cluster/summary?hours=24",
    "/api/v1/cluster/utilisation?minutes=60",
    "/api/v1/health",
    "/api/v1/pools",
    "/api/v1/teams",
)
LISTS: Final = (
    "/api/v1/jobs?state=running,rescaling&limit=100",
    "/api/v1/jobs?state=queued,paused&limit=100",
    "/api/v1/jobs?state=completed,failed,cancelled&limit=10",
)
CURVES: Final = "/api/v1/jobs:sparklines?state=running,rescaling&limit=100&points=60"


@dataclass(slots=True)
class Traffic:
    """What pages asked for and got."""

    requests: int = 0
    received: int = 0  # bytes of bodies, as they travelled


Page = Callable[[httpx.AsyncClient, Traffic], Coroutine[Any, Any, None]]


def page_that_asks(jobs: list[str]) -> Page:
    """A page of one request for each part, and for the curve of each job."""
    curves = [f"/api/v1/jobs/{job}/metrics?points=60" for job in jobs]

    async def stay_open(client: httpx.AsyncClient, traffic: Traffic) -> None:
        while True:
            began = time.monotonic()
            for path in (*OTHERS, *LISTS, *curves):
                answer = await client.get(path)
                answer.raise_for_status()
                traffic.requests += 1
                traffic.received += answer.num_bytes_downloaded
            await asyncio.sleep(max(ASK_SECONDS - (time.monotonic() - began), 0.0))

    return stay_open


def page_that_is_sent_all(encoding: str) -> Page:
    """A page of one stream; encoding: what it takes, `gzip` or `identity`."""
    reads = httpx.QueryParams([("read", path) for path in (*OTHERS, *LISTS, CURVES)])

    async def stay_open(client: httpx.AsyncClient, traffic: Traffic) -> None:
        headers = {"Accept-Encoding": encoding}
        while True:
            traffic.requests += 1
            async with client.stream("GET", "/api/v1/live", params=reads, headers=headers) as sent:
                sent.raise_for_status()
                async for piece in sent.aiter_raw():
                    traffic.received += len(piece)

    return stay_open


async def let_be_open(
    url: str, tokens: list[str], page: Page, *, count: int, seconds: float
) -> Traffic:
    traffic = Traffic()
    async with AsyncExitStack() as stack:
        viewers = [await stack.enter_async_context(_client(url, token)) for token in tokens]
        async with asyncio.TaskGroup() as group:
            pages = [
                group.create_task(page(viewers[number // _OF_ONE_TOKEN], traffic))
                for number in range(count)
            ]
            await asyncio.sleep(seconds)
            for one in pages:
                one.cancel()
    return traffic


def _client(url: str, token: str) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}"}
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=60, limits=limits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30.0, help="for which pages are open")
    arguments = parser.parse_args()
    slots = arguments.jobs
    with measured_stack(slots=slots, tick_seconds=5.0, say=print) as stack, Caller(stack) as caller:
        gauge = StackGauge(stack)
        answers = caller.submit(spec(f"page-{n}", most_workers=1) for n in range(arguments.jobs))
        if refused(answers):
            raise SystemExit(f"Submits were refused: {refused(answers)[0]}")
        jobs = [answer.document["id"] for answer in answers]
        while gauge.database.jobs().get("running", 0) < arguments.jobs:
            time.sleep(1.0)
        time.sleep(arguments.seconds)  # until reports have come to rest
        tokens = _tokens(stack, -(-PAGES // _OF_ONE_TOKEN))
        print("| pages | requests a minute, each | api | PostgreSQL | kB/s, each |")
        print("|---|---|---|---|---|")
        at_rest = _spent(gauge, lambda: time.sleep(arguments.seconds))
        cores = {name: at_rest.processor_seconds(name) / at_rest.seconds for name in _PARTS}
        print(f"| none | | {' | '.join(f'{one:.3f} cores' for one in cores.values())} | |")
        for what, page, most in (
            ("ask", page_that_asks(jobs), PAGES_THAT_ASK),
            ("are sent all as it is", page_that_is_sent_all("identity"), PAGES),
            ("are sent all compressed", page_that_is_sent_all("gzip"), PAGES),
        ):
            for count in (1, most):
                looking = let_be_open(
                    stack.url, tokens, page, count=count, seconds=arguments.seconds
                )
                print(f"| {count} that {what} | {_measured(gauge, looking, count, cores)} |")


_PARTS: Final = ("api", "postgres")


def _tokens(stack: MeasuredStack, count: int) -> list[str]:
    script = _NEW_TOKENS.format(team=TEAM, count=count)
    service, owner = stack.service(), database_roles.OWNER
    return preparation.manage(service, "shell", "-v", "0", "--command", script, role=owner).split()


def _measured(
    gauge: StackGauge,
    looking: Coroutine[Any, Any, Traffic],
    count: int,
    at_rest: dict[str, float],
) -> str:
    traffic = list[Traffic]()
    spent = _spent(gauge, lambda: traffic.append(asyncio.run(looking)))
    cores = (spent.processor_seconds(name) / spent.seconds - at_rest[name] for name in _PARTS)
    per_page = 60 * traffic[0].requests / spent.seconds / count
    rate = traffic[0].received / spent.seconds / count / 1000
    costs = " | ".join(f"+{one:.3f}" for one in cores)
    return f"{per_page:.0f} | {costs} | {rate:.1f}"


def _spent(gauge: StackGauge, work: Callable[[], object]) -> SpentBetween:
    first = gauge.read()
    work()
    return SpentBetween(first=first, last=gauge.read())


if __name__ == "__main__":
    main()
