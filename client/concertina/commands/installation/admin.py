"""`admin export`, `admin apply`: all that admins set up, as one file."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from concertina.commands.options import AsOf, AsPerson, Output
from concertina.errors import BadInput, RefusedByService
from concertina.exit_codes import CommandExitCode
from concertina.input import job_files
from concertina.input.setup_files import setup_text
from concertina.terminal.harmless import plain
from concertina.terminal.session import session
from concertina.terminal.written import Format
from concertina.views.installation.setups import faults_text, outcome_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from concertina.client import Client
    from concertina.documents import SetupOutcome
    from concertina.input.job_files import JobFile
    from concertina.terminal.session import Session

_LONGEST: Final = 2 * 1024 * 1024  # more than the service takes, however it is written

app = typer.Typer(no_args_is_help=True, help="All that admins set up, as one file.")


@app.command()
def export(*, as_of: AsOf = None, person: AsPerson = None, output: Output = Format.TABLE) -> None:
    """Write pools, nodes, teams, quotas, limits and image rules as a file for `admin apply`."""
    with session(output) as current, current.speaking_for(person) as client:
        setup = client.setups.read(as_of=as_of)["setup"]
        if current.terminal.is_for_programs:
            current.terminal.show_document(setup)
        else:
            sys.stdout.write(plain(setup_text(setup)))


@app.command()
def apply(
    *,
    file: Annotated[
        str, typer.Option("--file", "-f", metavar="FILE", help="The set-up, in YAML or JSON.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; say what would change.")
    ] = False,
    exit_code: Annotated[
        bool,
        typer.Option("--exit-code", help="With --dry-run: end with 9 if something would change."),
    ] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Remove what the file leaves out of the parts it names."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    person: AsPerson = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what a file would change of the set-up, and change it: all of it, or nothing."""
    with session(output) as current:
        if exit_code and not dry_run:
            raise BadInput("--exit-code goes with --dry-run.")
        if file == job_files.STDIN:
            raise BadInput("Name a file: standard input is for the password.")
        source = job_files.parse(*_text_of(file))
        with _faults_by_line(current, source), current.speaking_for(person) as client:
            outcome = client.setups.preview(source.spec, prune=prune)
            if outcome["changes"] and not dry_run:
                outcome = _applied(current, client, source, outcome, prune=prune, yes=yes)
            else:
                current.terminal.show(outcome, outcome_text(outcome, is_done=False))
    if exit_code and outcome["changes"]:
        raise typer.Exit(CommandExitCode.WOULD_CHANGE)


def _text_of(file: str) -> tuple[str, str]:
    """Read a file that is not so large that it would take minutes to say that it is too large."""
    text, name = job_files.text_of(file)
    if len(text) > _LONGEST:
        raise BadInput(f"{name} has more than {_LONGEST} characters, which no set-up has.")
    return text, name


@contextmanager
def _faults_by_line(current: Session, source: JobFile) -> Iterator[None]:
    """Tell people of each fault where it stands in the file; programs get the service's words."""
    try:
        yield
    except RefusedByService as error:
        if current.terminal.is_for_programs or not error.details:
            raise
        current.terminal.say("Refused, and nothing is changed.", style="bold red")
        current.terminal.err.print(faults_text(error.details, source.place), soft_wrap=True)
        raise typer.Exit(error.exit_code) from None


def _applied(
    current: Session,
    client: Client,
    source: JobFile,
    seen: SetupOutcome,
    *,
    prune: bool,
    yes: bool,
) -> SetupOutcome:
    """Apply just what was shown."""
    if not yes:
        if not sys.stdin.isatty():
            raise BadInput("Nobody is there to be asked. Say --yes, or --dry-run to look first.")
        current.terminal.err.print(outcome_text(seen, is_done=False))
        typer.confirm("Apply this?", abort=True, err=True)
    done = client.setups.apply(source.spec, prune=prune, version=seen["version_before"])
    current.terminal.show(done, outcome_text(done, is_done=True))
    return done
