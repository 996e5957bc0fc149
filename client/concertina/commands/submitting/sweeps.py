"""`sweeps ls`, `show`, `cancel`: many trials of one spec, of which the best are searched."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from concertina.commands.options import Output, Why
from concertina.terminal.session import Session, session
from concertina.terminal.written import Format
from concertina.views.job.sweeps import sweep_lines, sweep_table, sweeps_table

if TYPE_CHECKING:
    from concertina.documents import SweepDetail

app = typer.Typer(no_args_is_help=True, help="Trials of one spec, of which the best are searched.")
SweepReference = Annotated[
    str, typer.Argument(metavar="SWEEP", help="An id, a name, or team/name.", show_default=False)
]


@app.command("ls")
def list_sweeps(
    *,
    team: Annotated[str | None, typer.Option(metavar="TEAM", help="Only this team.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    output: Output = Format.TABLE,
) -> None:
    """List sweeps, the newest first, and how their trials stand."""
    with session(output) as current:
        found = list(islice(current.client.sweeps.every(team=team), limit))
        current.terminal.show_rows(
            found, sweeps_table(found), none="No sweeps. A job spec with `sweep:` makes one."
        )


@app.command("show")
def show_sweep(reference: SweepReference, *, output: Output = Format.TABLE) -> None:
    """Show each trial of a sweep: its values, how far it came, and which one is the best."""
    with session(output) as current:
        _show(current, current.client.sweeps.find(reference))


@app.command("cancel")
def cancel_sweep(
    reference: SweepReference, *, reason: Why = "", output: Output = Format.TABLE
) -> None:
    """Stop all trials of a sweep for good, and submit no more."""
    with session(output) as current:
        sweeps = current.client.sweeps
        told = sweeps.cancel(sweeps.find(reference)["id"], reason=reason)
        current.terminal.say("Its trials are cancelled, or will be once they have stopped.")
        _show(current, told)


def begin(current: Session, spec: dict[str, Any], idempotency_key: str | None) -> None:
    """Submit a spec with a `sweep`, and say what was begun."""
    made, is_new = current.client.sweeps.submit(spec, idempotency_key=idempotency_key)
    verb = "Submitted" if is_new else "This key had submitted"
    current.terminal.say(f"{verb} sweep {made['id']} of {made['trials']} trials.")
    for note in made["notes"] if is_new else ():
        current.terminal.say(f"Note: {note}")
    current.terminal.show(made, f"concertina sweeps show {made['id']}")


def _show(current: Session, sweep: SweepDetail) -> None:
    current.terminal.say(sweep_lines(sweep))
    current.terminal.show(sweep, sweep_table(sweep))
