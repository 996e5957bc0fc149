"""What do open overviews cost? `python -m benchmarks.service_load.open_pages [--jobs 100]`.

A stack of its own carries simulated jobs. Nobody looks; then one page is open, then several, first
pages that ask for each of their parts every two seconds, as they did, then pages to which all is
sent. Prints processor time of `api` and PostgreSQL beyond what they take while nobody looks.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

import httpx
from local_stack.soak.counting.reading import SpentBetween, StackGauge
from local_stack.soak.measured_stack import MeasuredStack, measured_stack
from local_stack.soak.users.requests import Caller, refused, spec

ASK_SECONDS: Final = 2.0
PAGES: Final = 8  # as many streams as one token may have
TEAM: Final = "vision"
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
    received: int = 0  # bytes


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
                traffic.received += len(answer.content)
            await asyncio.sleep(max(ASK_SECONDS - (time.monotonic() - began), 0.0))

    return stay_open


async def page_that_is_sent_all(client: httpx.AsyncClient, traffic: Traffic) -> None:
    while True:
        traffic.requests += 1
        reads = httpx.QueryParams([("read", path) for path in (*OTHERS, *LISTS, CURVES)])
        async with client.stream("GET", "/api/v1/live", params=reads) as answer:
            answer.raise_for_status()
            async for piece in answer.aiter_bytes():
                traffic.received += len(piece)


async def let_be_open(stack: MeasuredStack, page: Page, count: int, seconds: float) -> Traffic:
    traffic = Traffic()
    headers = {"Authorization": f"Bearer {stack.secrets.tokens[TEAM]}"}
    limits = httpx.Limits(max_connections=None)
    async with (
        httpx.AsyncClient(base_url=stack.url, headers=headers, timeout=60, limits=limits) as client,
        asyncio.TaskGroup() as group,
    ):
        pages = [group.create_task(page(client, traffic)) for _ in range(count)]
        await asyncio.sleep(seconds)
        for one in pages:
            one.cancel()
    return traffic


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
        print("| pages | requests a minute, each | api | PostgreSQL | kB/s, each |")
        print("|---|---|---|---|---|")
        at_rest = _spent(gauge, lambda: time.sleep(arguments.seconds))
        cores = {name: at_rest.processor_seconds(name) / at_rest.seconds for name in _PARTS}
        print(f"| none | | {' | '.join(f'{one:.3f} cores' for one in cores.values())} | |")
        for what, page in (("ask", page_that_asks(jobs)), ("are sent", page_that_is_sent_all)):
            for count in (1, PAGES):
                _measure(
                    stack, gauge, (what, page), count=count, seconds=arguments.seconds, rest=cores
                )


_PARTS: Final = ("api", "postgres")


def _measure(
    stack: MeasuredStack,
    gauge: StackGauge,
    kind: tuple[str, Page],
    *,
    count: int,
    seconds: float,
    rest: dict[str, float],
) -> None:
    what, page = kind
    traffic = list[Traffic]()
    spent = _spent(
        gauge, lambda: traffic.append(asyncio.run(let_be_open(stack, page, count, seconds)))
    )
    cores = (spent.processor_seconds(name) / spent.seconds - rest[name] for name in _PARTS)
    per_page = 60 * traffic[0].requests / spent.seconds / count
    rate = traffic[0].received / spent.seconds / count / 1000
    costs = " | ".join(f"+{one:.3f}" for one in cores)
    print(f"| {count} that {what} | {per_page:.0f} | {costs} | {rate:.0f} |")


def _spent(gauge: StackGauge, work: Callable[[], object]) -> SpentBetween:
    first = gauge.read()
    work()
    return SpentBetween(first=first, last=gauge.read())


if __name__ == "__main__":
    main()
