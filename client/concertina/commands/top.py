"""`top`: pools, teams and live jobs, redrawn until Ctrl-C."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.live import Live

from concertina.commands.options import Output
from concertina.connection import credentials
from concertina.states import LIVE_STATES
from concertina.terminal.session import Terminal, session
from concertina.terminal.written import Format
from concertina.views.installation.cluster import overview

if TYPE_CHECKING:
    from rich.console import RenderableType

    from concertina.client import Client
    from concertina.documents import Job, Pool, Team
    from concertina.errors import Unreachable

MOST_JOBS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What there was to see at one moment."""

    pools: list[Pool]
    teams: list[Team]
    jobs: list[Job]


def top(
    *,
    every: Annotated[
        float, typer.Option(min=0.2, metavar="SECONDS", help="Time between two looks.")
    ] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Look once and end.")] = False,
    output: Output = Format.TABLE,
) -> None:
    """Watch pools, teams and live jobs; Ctrl-C ends it."""
    with session(output) as current:
        terminal = current.terminal
        if once or terminal.is_for_programs or not terminal.out.is_terminal:
            sight = look(current.client)
            document = {"pools": sight.pools, "teams": sight.teams, "jobs": sight.jobs}
            terminal.show(document, view(sight, current.client.url))
            return
        _watch(terminal, every)


def look(client: Client) -> Sight:
    """Ask for everything the screen shows."""
    jobs = islice(client.jobs(states=LIVE_STATES), MOST_JOBS)
    return Sight(pools=client.pools(), teams=client.teams(), jobs=list(jobs))


def view(sight: Sight, url: str) -> RenderableType:
    at = datetime.now(UTC).astimezone().strftime("%H:%M:%S")
    head = f"Concertina at {url}, {at}"
    return overview(sight.pools, sight.teams, sight.jobs, head=head)


def _watch(terminal: Terminal, every: float) -> None:
    from concertina.client import Client  # noqa: PLC0415 - `--help` has no use for HTTP
    from concertina.connection.retrying import PATIENT  # noqa: PLC0415 - likewise

    found = credentials.load()
    with Live(console=terminal.out, screen=True, auto_refresh=False) as live:

        def say_delay(error: Unreachable, seconds: float) -> None:
            live.update(f"{error.message} Trying again in {seconds:.1f} s.", refresh=True)

        with (
            Client(found.url, found.token, policy=PATIENT, on_delay=say_delay) as client,
            suppress(KeyboardInterrupt),
        ):
            while True:
                live.update(view(look(client), client.url), refresh=True)
                client.clock.sleep(every)
