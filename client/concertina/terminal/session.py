"""What does every command need? A terminal to write to, a client to ask, and one way to fail."""

from __future__ import annotations

import codecs
import json
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TextIO

import typer

from concertina.connection import credentials
from concertina.errors import ConcertinaError, Unreachable
from concertina.input import secret_input
from concertina.terminal.harmless import HarmlessConsole, json_text, plain
from concertina.terminal.written import Format, as_csv, as_json, as_yaml
from concertina.views.problems import problems_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import RenderableType

    from concertina.client import Client

_PIPE_WIDTH = 200  # columns when nobody looks: tables are not cut at 80
_UNCUT_WIDTH = 2000


class Terminal:
    """Results go to standard output, everything said along the way to standard error."""

    def __init__(self, output: Format) -> None:
        self.output = output
        self.out = _console(is_error=False)
        self.err = _console(is_error=True)

    @property
    def is_for_programs(self) -> bool:
        """True if nothing is to be written but what a program reads."""
        return self.output is not Format.TABLE

    def show(self, document: Any, view: RenderableType, *, is_uncut: bool = False) -> None:
        """Print a result: the document itself, or what people see of it.

        Lines that are uncut are longer than the terminal is wide, if they have so much to say.
        """
        if self.is_for_programs:
            self.show_document(document)
        elif is_uncut or not self.out.is_terminal:
            self._write_without_padding(view, _UNCUT_WIDTH if is_uncut else None)
        else:
            self.out.print(view)

    def show_rows(self, rows: Sequence[Any], view: RenderableType, *, none: str) -> None:
        """Print a list; people are told in words that nothing is in it."""
        if rows or self.is_for_programs:
            self.show(rows, view)
        else:
            self.say(none)

    def show_document(self, document: Any) -> None:
        """Write the document as it was asked for, else as JSON.

        Raises:
            BadInput: it cannot be written so.
        """
        is_ascii = not _takes_unicode(sys.stdout)
        match self.output:
            case Format.YAML:
                text = as_yaml(document, is_ascii=is_ascii)
            case Format.CSV:
                text = as_csv(document)
            case _:
                text = as_json(document, is_ascii=is_ascii)
        self._write(text)

    def show_file(self, text: str) -> None:
        """Write a file to the letter, tabs and all, but for what would steer a terminal."""
        self._write(plain(text))

    def show_line(self, document: Any) -> None:
        """Write one of many documents, which come one by one, on a line of its own."""
        self._write(as_json(document, indent=None, is_ascii=not _takes_unicode(sys.stdout)))

    def _write_without_padding(self, view: RenderableType, width: int | None) -> None:
        """Files and pipes get lines that end where their text ends."""
        with self.out.capture() as captured:
            self.out.print(view, width=width)
        lines = captured.get().splitlines()
        self._write("".join(f"{line.rstrip()}\n" for line in lines))

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def say(self, text: str, *, style: str = "") -> None:
        self.err.print(text, style=style, soft_wrap=True)

    def say_delay(self, error: Unreachable, seconds: float) -> None:
        """The service is away, and we go on trying."""
        self.say(f"{error.message} Trying again in {seconds:.1f} s.", style="yellow")

    def show_error(self, error: ConcertinaError, place_of: Callable[[str], str]) -> None:
        if self.is_for_programs:
            is_ascii = not _takes_unicode(sys.stderr)
            text = json.dumps(error.as_envelope(), ensure_ascii=is_ascii)
            sys.stderr.write(json_text(text) + "\n")
            return
        if not error.details:
            self.say(f"Error: {error.message}", style="bold red")
            return
        count = len(error.details)
        self.say(f"Refused: {count} problem{'s' if count > 1 else ''}.", style="bold red")
        self.err.print(problems_list(error.details, place_of), soft_wrap=True)


@dataclass(kw_only=True)
class Session:
    """One run of one command."""

    terminal: Terminal
    place_of: Callable[[str], str] = field(default=lambda _field: "")  # where a field stands
    _open: ExitStack = field(default_factory=ExitStack)

    @cached_property
    def client(self) -> Client:
        """Made when first needed, so that a bad file is told before a missing login."""
        from concertina.client import Client  # noqa: PLC0415 - `--help` has no use for HTTP

        found = credentials.load()
        client = Client(found.url, found.token, on_delay=self.terminal.say_delay)
        self._open.enter_context(client)
        return client

    @contextmanager
    def speaking_for(self, person: str | None) -> Iterator[Client]:
        """Let the client speak for a person, whose password is asked for; None: for the token."""
        if person is None:
            yield self.client
            return
        with self.client.as_person(person, secret_input.password(None)) as client:
            yield client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


@contextmanager
def session(output: Format) -> Iterator[Session]:
    """Run a command's body; an error becomes a message and an exit code, never a traceback."""
    with Session(terminal=Terminal(output)) as current:
        try:
            yield current
        except ConcertinaError as error:
            current.terminal.show_error(error, current.place_of)
            raise typer.Exit(error.exit_code) from None


def _takes_unicode(stream: TextIO) -> bool:
    """True if the terminal takes Unicode; where it does not, JSON is escaped, not damaged."""
    return codecs.lookup(stream.encoding or "utf-8").name == "utf-8"


def _console(*, is_error: bool) -> HarmlessConsole:
    """A console that takes no user's text for markup or for orders."""
    stream = sys.stderr if is_error else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return HarmlessConsole(file=stream, width=width, markup=False, highlight=False, emoji=False)
