"""`teams`, `pools`, `nodes`: who may use which GPUs, and who does?"""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.options import Output
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.cluster import nodes_table, pools_table, teams_table

PoolOption = Annotated[str | None, typer.Option("--pool", metavar="POOL", help="Only this pool.")]


def teams(*, pool: PoolOption = None, output: Output = Format.TABLE) -> None:
    """Show what each team is guaranteed, holds, borrows and lends, in GPUs."""
    with session(output) as current:
        found = current.client.teams(pool=pool)
        current.terminal.show(found, teams_table(found))


def pools(*, output: Output = Format.TABLE) -> None:
    """Show each pool's GPUs, how many are in use, and what one more would be worth."""
    with session(output) as current:
        found = current.client.pools()
        current.terminal.show(found, pools_table(found))


def nodes(*, pool: PoolOption = None, output: Output = Format.TABLE) -> None:
    """Show each node: its free GPUs, whether it takes new work, and if not, why."""
    with session(output) as current:
        found = current.client.nodes(pool=pool)
        current.terminal.show(found, nodes_table(found))
