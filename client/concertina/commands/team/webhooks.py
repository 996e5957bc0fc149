"""`webhooks ls`, `add`, `rm`, `test`, `deliveries`, `replay`: who is told what happens."""

from __future__ import annotations

from typing import Annotated

import typer

from concertina.commands.options import AsPerson, Output, TeamOption
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.team.webhooks import added, deliveries_table, webhooks_table

app = typer.Typer(no_args_is_help=True, help="Which addresses are told what happens to jobs.")

Reference = Annotated[
    str, typer.Argument(metavar="WEBHOOK", help="A name, or an id.", show_default=False)
]
Narrowed = Annotated[
    str | None, typer.Option("--team", metavar="TEAM", help="Only this team's webhooks.")
]


@app.command("ls")
def list_webhooks(
    team: Annotated[
        str | None, typer.Argument(metavar="[TEAM]", help="Default: all that you may change.")
    ] = None,
    *,
    lead: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """List webhooks, of what each is told, and whether it fails. A token may not: say --as whom."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            items = client.webhooks.all(team)
        current.terminal.show_rows(
            items,
            webhooks_table(items),
            none="No webhooks. `concertina webhooks add NAME URL` adds one.",
        )


@app.command()
def add(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What to call it.", show_default=False)
    ],
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL", help="Where to send to; mailto:ADDRESS for mail.", show_default=False
        ),
    ],
    *,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="Of events; may be repeated. Default: all."),
    ] = None,
    states: Annotated[
        list[str] | None,
        typer.Option(
            "--state",
            metavar="STATE",
            help="Of changes of state only those to one of these; may be repeated.",
        ),
    ] = None,
    shape: Annotated[
        str, typer.Option("--shape", metavar="SHAPE", help="json, slack, mattermost or mail.")
    ] = "json",
    on_request: Annotated[
        bool, typer.Option("--on-request", help="Only of jobs that name it in their `notify`.")
    ] = False,
    all_teams: Annotated[
        bool, typer.Option("--all-teams", help="Of the jobs of all teams; admins only.")
    ] = False,
    lead: AsPerson = None,
    team: TeamOption = None,
    output: Output = Format.TABLE,
) -> None:
    """Tell an address what happens from now on, and print the key that signs it, this once."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            made = client.webhooks.add(
                name,
                url,
                shape=shape,
                kinds=kinds or (),
                states=states or (),
                is_on_request=on_request,
                team=team,
                is_of_all_teams=all_teams,
            )
        told = added(made)
        if made["shape"] == "mail":  # which nobody signs
            current.terminal.show(made, told)
            return
        if not current.terminal.is_for_programs:
            current.terminal.say(f"{told} The key that signs it is shown this once:")
        current.terminal.show(made, made["key"])


@app.command("rm")
def remove(
    webhook: Reference,
    *,
    lead: AsPerson = None,
    team: Narrowed = None,
    output: Output = Format.TABLE,
) -> None:
    """Delete a webhook, and forget what it was sent."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            client.webhooks.remove(webhook, team=team)
        told = f"Webhook {webhook} is deleted."
        current.terminal.show({"webhook": webhook, "deleted": True}, told)


@app.command("test")
def send_test(
    webhook: Reference,
    *,
    lead: AsPerson = None,
    team: Narrowed = None,
    output: Output = Format.TABLE,
) -> None:
    """Send a message to a webhook to see whether it comes through."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            made = client.webhooks.test(webhook, team=team)
        told = f"A test is sent. How it went: `concertina webhooks deliveries {webhook}`."
        current.terminal.show(made, told)


@app.command()
def deliveries(
    webhook: Reference,
    *,
    state: Annotated[
        str | None,
        typer.Option("--state", metavar="STATE", help="waiting, delivered or dead."),
    ] = None,
    last: Annotated[
        int,
        typer.Option("--last", "-n", metavar="COUNT", min=1, max=200, help="At most so many."),
    ] = 50,
    lead: AsPerson = None,
    team: Narrowed = None,
    output: Output = Format.TABLE,
) -> None:
    """List what a webhook was sent, and how it went, the newest first."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            found = client.webhooks.deliveries(webhook, state=state, limit=last, team=team)
        items = found["items"]
        current.terminal.show_rows(items, deliveries_table(items), none="Nothing was sent.")


@app.command()
def replay(
    webhook: Reference,
    delivery: Annotated[
        str, typer.Argument(metavar="DELIVERY", help="Its id.", show_default=False)
    ],
    *,
    lead: AsPerson = None,
    team: Narrowed = None,
    output: Output = Format.TABLE,
) -> None:
    """Send something again that was delivered, or is dead."""
    with session(output) as current:
        with current.speaking_for(lead) as client:
            again = client.webhooks.replay(webhook, delivery, team=team)
        current.terminal.show(again, f"Delivery {delivery} is sent again.")
