"""`audit`: who did what, and who was refused?"""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.options import AsPerson, Output, Since, Until
from concertina.connection.team.audit import MOST_ENTRIES, USUAL_ENTRIES
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.team.audit import audit_table


def audit(
    team: Annotated[
        str | None,
        typer.Argument(metavar="[TEAM]", help="Only about this team. Default: all you may see."),
    ] = None,
    *,
    user: Annotated[
        str | None,
        typer.Option("--user", "-u", metavar="NAME", help="Only by this person, or TEAM/TOKEN."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option("--token", metavar="TOKEN", help="Only with this one: ct_…, or its id."),
    ] = None,
    operation: Annotated[
        str | None,
        typer.Option("--operation", metavar="NAME", help="Only this one, such as change_quota."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--object", metavar="OBJECT", help="Only this, such as jobs/ID."),
    ] = None,
    outcome: Annotated[
        str | None, typer.Option("--outcome", metavar="done|refused|failed", help="Only such.")
    ] = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit", metavar="ENTRIES", min=1, max=MOST_ENTRIES, help="At most so many."
        ),
    ] = USUAL_ENTRIES,
    person: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """Show who changed what, who signed in, who was refused; a token may not: say --as whom."""
    with session(output) as current:
        with current.speaking_for(person) as client:
            items = client.audit.read(
                most=limit,
                team=team,
                sender=user,
                token=token,
                operation=operation,
                target=target,
                outcome=outcome,
                since=since,
                until=until,
            )
        current.terminal.show_rows(items, audit_table(items), none="No such entries.")
