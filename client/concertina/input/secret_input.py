"""Where does the value of a secret come from? A prompt, standard input or a file.

Never the argument list, which everybody on the machine can read and shells write down. No error
repeats what was read.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence


def variables(names: Sequence[str], file: str | None) -> dict[str, str]:
    """The variables of a secret.

    Named ones are asked for; a single one's value may also be the whole of the input. Without
    names the input has lines like `NAME=value`, taken as they stand.

    Raises:
        BadInput: there is nothing to read, or it cannot be understood.
    """
    if any("=" in name for name in names):
        raise BadInput(
            "Values do not belong on the command line, where others can read them. Give the names"
            " only: their values are asked for, or read from standard input or --file."
        )
    text = _text(file)
    if text is None:
        if not names:
            raise BadInput("Name the variables to be asked for, or give --file.")
        return {name: _asked_for(name) for name in names}
    if not names:
        return _lines(text)
    if len(names) > 1:
        raise BadInput("Of several variables, give lines like NAME=value, and do not name them.")
    return {names[0]: text.removesuffix("\n")}


def password(file: str | None) -> str:
    """The password of a login: the whole of the input, or asked for."""
    text = _text(file)
    return _asked_for("Password") if text is None else text.removesuffix("\n")


def _text(file: str | None) -> str | None:
    """Return what the file or standard input holds; None: a person sits there and can be asked."""
    if file is None and sys.stdin.isatty():
        return None
    try:
        return sys.stdin.read() if file in {None, "-"} else Path(str(file)).read_text()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise BadInput("This is not text. Encode what is not text as base64.") from None


def _lines(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or name in found:
            what = "sets a variable again" if equals else "is not like NAME=value"
            raise BadInput(f"Line {number} {what}.")
        found[name] = value
    return found


def _asked_for(what: str) -> str:
    return str(typer.prompt(what, hide_input=True, default="", show_default=False))
