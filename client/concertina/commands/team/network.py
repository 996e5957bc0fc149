"""`network`: what the jobs of a team may reach, beside one another."""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.options import AsPerson, Output, TeamOption
from concertina.errors import BadInput
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.installation.cluster import network_of

_LISTED = "listed"


def network(
    word: Annotated[
        str | None,
        typer.Argument(metavar="[WORD]", help="isolated, listed or egress. Without it: as it is."),
    ] = None,
    hosts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[HOST:PORT]...", help="For listed: instead of those before."),
    ] = None,
    *,
    person: AsPerson = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """See what the jobs of a team may ask for as their network; admins change it."""
    with session(output) as current:
        if hosts and word != _LISTED:
            raise BadInput(f"Hosts are for {_LISTED}: concertina network {_LISTED} pypi.org:443")
        if word is None:
            found = current.client.networks.of(team)
            facts = {name: found[name] for name in ("name", "network", "reachable")}
            current.terminal.show(facts, network_of(found))
            return
        with current.speaking_for(person) as client:
            changed = client.networks.change(word, hosts or None, team=team)
        current.terminal.show(changed, network_of(changed))
