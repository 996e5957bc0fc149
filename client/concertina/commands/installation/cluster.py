"""`teams`, `pools`, `nodes`: who may use which GPUs, and who does? `drain` empties a node."""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.options import AsPerson, Output
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.installation.cluster import nodes_table, pools_view, teams_table

NodeName = Annotated[str, typer.Argument(metavar="NODE", show_default=False)]
PoolOption = Annotated[str | None, typer.Option("--pool", metavar="POOL", help="Only this pool.")]


def teams(*, pool: PoolOption = None, output: Output = Format.TABLE) -> None:
    """Show what each team is guaranteed, holds, borrows and lends, in GPUs."""
    with session(output) as current:
        found = current.client.teams(pool=pool)
        current.terminal.show(found, teams_table(found))


def pools(*, output: Output = Format.TABLE) -> None:
    """Show each pool's GPUs, how many are in use, what one more would be worth, and who asks."""
    with session(output) as current:
        found = current.client.pools()
        current.terminal.show(found, pools_view(found))


def nodes(*, pool: PoolOption = None, output: Output = Format.TABLE) -> None:
    """Show each node: its free GPUs, whether it takes new work, and if not, why."""
    with session(output) as current:
        found = current.client.nodes(pool=pool)
        current.terminal.show(found, nodes_table(found))


def cordon(node: NodeName, *, person: AsPerson = None, output: Output = Format.TABLE) -> None:
    """Place nothing new on a node; what runs there goes on (admins)."""
    _maintain(node, "cordon", person, output)


def drain(node: NodeName, *, person: AsPerson = None, output: Output = Format.TABLE) -> None:
    """Move running jobs away from a node, so that it may be switched off (admins)."""
    _maintain(node, "drain", person, output)


def uncordon(node: NodeName, *, person: AsPerson = None, output: Output = Format.TABLE) -> None:
    """Place work on a node again (admins)."""
    _maintain(node, "uncordon", person, output)


def _maintain(node: str, what: str, person: str | None, output: Format) -> None:
    with session(output) as current:
        with current.speaking_for(person) as client:
            found = client.maintain(node, what)
        current.terminal.show(found, nodes_table([found]))
