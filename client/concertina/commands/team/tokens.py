"""`tokens ls`, `add`, `rotate`, `revoke`: which keys a team's programs have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from concertina import words
from concertina.commands.options import AsPerson, Output, TeamArgument, TeamOption
from concertina.connection.team.tokens import USUAL
from concertina.errors import BadInput
from concertina.terminal.session import Session, session
from concertina.terminal.written import Format
from concertina.views.team.tokens import tokens_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from concertina.documents import MadeToken

app = typer.Typer(no_args_is_help=True, help="Which keys a team's programs have.")

Reference = Annotated[
    str, typer.Argument(metavar="TOKEN", help="A valid one's name, or an id.", show_default=False)
]
Days = Annotated[
    int | None,
    typer.Option("--days", metavar="DAYS", min=1, help="Until it expires. Default: 90."),
]
Never = Annotated[bool, typer.Option("--never", help="It does not expire; admins only.")]


@app.command("ls")
def list_tokens(
    team: TeamArgument = None,
    *,
    lead: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """List a team's tokens, when each was used last, and from where."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            items = client.tokens.of(team)["items"]
        current.terminal.show_rows(
            items,
            tokens_table(items),
            none="No tokens yet. `concertina tokens add NAME` makes one.",
        )


@app.command()
def add(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What it is for.", show_default=False)
    ],
    *,
    scopes: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            metavar="SCOPE",
            help="read, submit, manage-jobs or manage-team; may be repeated. Default: all that"
            " tokens may.",
        ),
    ] = None,
    pools: Annotated[
        list[str] | None,
        typer.Option(
            "--pool", metavar="POOL", help="Only jobs in this pool, or in one of several."
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="NAME=VALUE",
            help="Only jobs with this label, which those that it submits get. May be repeated.",
        ),
    ] = None,
    days: Days = None,
    never: Never = False,
    lead: AsPerson = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Make a token and print its key, which is shown once. A team's own may not: say --as whom."""
    with session(output) as current:
        lasting = _lasting(days, never=never)
        wanted = _labels(labels or ())
        with current.speaking_for(lead) as client:
            made = client.tokens.add(
                name, days=lasting, scopes=scopes, pools=pools, labels=wanted, team=team
            )
        _show_key(current, made)


@app.command()
def rotate(
    token: Reference,
    *,
    overlap: Annotated[
        int | None,
        typer.Option(
            "--overlap",
            metavar="HOURS",
            min=0,
            help="How long the former key opens as well. Default: 24.",
        ),
    ] = None,
    days: Days = None,
    never: Never = False,
    lead: AsPerson = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Make a token in place of another, whose key opens for a while longer."""
    with session(output) as current:
        lasting = _lasting(days, never=never)
        with current.speaking_for(lead) as client:
            made = client.tokens.rotate(token, overlap_hours=overlap, days=lasting, team=team)
        _show_key(current, made)


@app.command()
def revoke(
    token: Reference,
    *,
    lead: AsPerson = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Make a token useless at once."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            client.tokens.revoke(token, team=team)
        current.terminal.show({"token": token, "revoked": True}, f"Token {token} is revoked.")


def _lasting(days: int | None, *, never: bool) -> int | None:
    """Raises: BadInput, if both are said."""
    if never and days is not None:
        raise BadInput("Give --days or --never, not both.")
    return None if never else days or USUAL


def _labels(texts: Sequence[str]) -> Mapping[str, str]:
    """Raises: BadInput, if there is no value, or more than one of a name."""
    labels: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise BadInput(f"--label is NAME=VALUE, not {text!r}.")
        if labels.setdefault(name, value) != value:
            raise BadInput(
                f"--label {name} has two values, and a job has one: make a token for each."
            )
    return labels


def _show_key(current: Session, made: MadeToken) -> None:
    """Standard output gets the key alone, so that a pipe takes nothing else."""
    if not current.terminal.is_for_programs:
        until = made["expires_at"]
        ends = f"expires at {words.date_time(until)}" if until else "never expires"
        current.terminal.say(f"Token {made['name']} {ends}. Its key is shown this once:")
    current.terminal.show(made, made["key"])
