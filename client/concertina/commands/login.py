"""`login`, `whoami`: as whom do we talk to which service?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from concertina.commands.options import Output
from concertina.connection import credentials
from concertina.connection.credentials import Credentials
from concertina.errors import BadInput
from concertina.terminal.session import session
from concertina.terminal.written import Format


def login(
    url: Annotated[str, typer.Argument(metavar="URL", help="Like http://host:8000.")],
    *,
    token: Annotated[
        str,
        typer.Option(
            envvar=credentials.TOKEN_VARIABLE,
            help="A team's token (ct_…). Left out, it is asked for.",
            show_envvar=True,
        ),
    ] = "",
    output: Output = Format.TABLE,
) -> None:
    """Remember a service and a token, after trying them."""
    from concertina.client import Client  # noqa: PLC0415 - `--help` has no use for HTTP

    with session(output) as current:
        found = Credentials(
            url=credentials.normalised_url(url), token=(token or _token_typed()).strip()
        )
        with Client(found.url, found.token, on_delay=current.terminal.say_delay) as client:
            teams = [team["name"] for team in client.teams()]
            notices = client.notices()
        file = credentials.config_file()
        credentials.store(found, file)
        current.terminal.show(
            {"url": found.url, "teams": teams, "stored_in": str(file), "notices": notices},
            f"Logged in to {found.url}. Sees: {', '.join(teams) or 'no team yet'}. "
            f"Stored in {file}.",
        )
        for notice in notices:
            current.terminal.say(notice, style="yellow")


def whoami(*, output: Output = Format.TABLE) -> None:
    """Say which service this is, whose token is used, and where both come from."""
    with session(output) as current:
        teams = [team["name"] for team in current.client.teams() if team["is_mine"]]
        origin = credentials.origin()
        current.terminal.show(
            {"url": current.client.url, "teams": teams, "from": origin},
            f"{current.client.url}, for {', '.join(teams) or 'no team'}. From {origin}.",
            is_uncut=True,
        )


def _token_typed() -> str:
    if not sys.stdin.isatty():
        raise BadInput("Give the token with --token or CONCERTINA_TOKEN.")
    return str(typer.prompt("Token", hide_input=True))
