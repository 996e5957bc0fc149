"""`exec`: a shell, or a command, beside a worker of a running job."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from concertina.commands.options import JobReference
from concertina.commands.shells import window
from concertina.errors import BadInput
from concertina.exit_codes import CommandExitCode
from concertina.terminal.session import session
from concertina.terminal.written import Format

if TYPE_CHECKING:
    from concertina.connection.shells.remote_shell import RemoteShell, ShellOutcome
    from concertina.terminal.session import Session

_EXIT_CODES: Final = {
    "cannot_start": CommandExitCode.REFUSED,
    "withdrawn": CommandExitCode.NOT_ALLOWED,
    "relay_lost": CommandExitCode.UNREACHABLE,
}


def execute(
    reference: JobReference,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMMAND...]", help="As in a shell: -- nvidia-smi -l. None: a shell."
        ),
    ] = None,
    *,
    worker: Annotated[
        str, typer.Option(metavar="N", help="Which: its rank or its id. Usually the first.")
    ] = "",
    terminal: Annotated[
        bool | None,
        typer.Option(
            "--terminal/--no-terminal",
            "-t/-T",
            help="Give it a terminal. Usually if you have one, too.",
        ),
    ] = None,
) -> None:
    """Run a shell or a command beside a worker, where the team may; it ends when you leave."""
    is_terminal = terminal
    if is_terminal is None:
        is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    with session(Format.TABLE) as current:
        _check(command or [])
        job_id = current.client.find(reference)["id"]
        wanted = {
            "command": command or [],
            "worker": worker,
            "is_terminal": is_terminal,
            **window.size(),
        }
        with current.client.shell(job_id, wanted) as shell:
            _talk(shell, is_terminal=is_terminal)
        raise typer.Exit(_told(current, shell.outcome))


def _check(command: list[str]) -> None:
    """Raises: BadInput, if a word is no text; requests carry nothing else."""
    for word in command:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise BadInput(
                f"{word!a} is not UTF-8, and commands are. Send such bytes as its input."
            ) from None


def _talk(shell: RemoteShell, *, is_terminal: bool) -> None:
    is_ours = is_terminal and sys.stdin.isatty()
    with (
        window.given_over(is_terminal=is_ours),
        window.TypedInput(shell, is_terminal=is_ours) as typed,
    ):
        signal.signal(signal.SIGINT, lambda *_: _interrupt(typed))
        for part in shell.parts():
            stream = sys.stderr if part.is_error else sys.stdout
            stream.buffer.write(part.data)
            stream.buffer.flush()


def _interrupt(typed: window.TypedInput) -> None:
    """Send the first Ctrl-C on; a second one means ourselves."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    typed.ask(signal="INT")


def _told(current: Session, outcome: ShellOutcome | None) -> int:
    """Return the command's status; or say why it has none."""
    if outcome is None:
        return CommandExitCode.UNREACHABLE
    if outcome.end == "exited" and outcome.exit_code is not None:
        return outcome.exit_code
    current.terminal.say(outcome.message, style="bold red")
    return _EXIT_CODES.get(outcome.end, CommandExitCode.REFUSED)
