"""Which installations are known here, and which of them is meant?

Each has a name, its context, and a file with its address and key that only its owner may read:
`credentials.json` for `default`, and `contexts/NAME.json`. The file `context` names the one in use;
`CONCERTINA_CONTEXT`, or `--context` before a command, names another for once.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTEXT_VARIABLE: Final = "CONCERTINA_CONTEXT"
DEFAULT: Final = "default"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def checked(name: str) -> str:
    """Return the name of a context.

    Raises:
        BadInput: a context cannot be called so.
    """
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"{name!r} is no name of a context. Use up to 40 letters, digits and any of . _ - ."
        )
    return name


def home(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of all of them: `$XDG_CONFIG_HOME/concertina`, or the platform's own."""
    if place := environ.get("XDG_CONFIG_HOME"):
        return Path(place) / "concertina"
    if sys.platform == "win32":
        return Path(environ.get("APPDATA") or Path.home()) / "concertina"
    own = "Library/Application Support" if sys.platform == "darwin" else ".config"
    return Path.home() / own / "concertina"


def file_of(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Return where a context's address and key are. Raises: BadInput."""
    folder = home(environ)
    if checked(name) == DEFAULT:
        return folder / "credentials.json"
    return folder / "contexts" / f"{name}.json"


def names(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the contexts there are, the default one first."""
    folder = home(environ)
    others = sorted(file.stem for file in (folder / "contexts").glob("*.json"))
    first = [DEFAULT] if file_of(DEFAULT, environ).exists() else []
    return first + [name for name in others if _NAME.fullmatch(name)]


def current(environ: Mapping[str, str] = os.environ) -> str:
    """Return the context that is meant, whether it is there or not.

    Raises:
        BadInput: what names it is no name.
    """
    if chosen := environ.get(CONTEXT_VARIABLE):
        return checked(chosen)
    pointer = _pointer(environ)
    try:
        found = pointer.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return DEFAULT
    except (OSError, ValueError) as problem:
        raise BadInput(f"{pointer} cannot be read ({problem}). Delete it.") from problem
    if not _NAME.fullmatch(found):
        raise BadInput(
            f"{pointer} names no context. Say which you mean: `concertina context use NAME`."
            f" {_there_are(environ)}."
        )
    return found


def check_that_it_exists(name: str, environ: Mapping[str, str] = os.environ) -> None:
    """Raises: BadInput, which says which there are."""
    if name not in names(environ):
        there = _there_are(environ)
        raise BadInput(f"There is no context {name!r}. {there}. Add it: `concertina context add`.")


def use(name: str, environ: Mapping[str, str] = os.environ) -> None:
    """Mean this one from now on. Raises: BadInput, if there is none such."""
    check_that_it_exists(name, environ)
    write(_pointer(environ), f"{name}\n")


def choose_for_once(name: str) -> None:
    """Mean this one in this process, and in those that it starts. Raises: BadInput."""
    os.environ[CONTEXT_VARIABLE] = checked(name)


def forget(name: str, environ: Mapping[str, str] = os.environ) -> None:
    """Delete a context; whoever meant it means the default one then. Raises: BadInput."""
    check_that_it_exists(name, environ)
    try:
        file_of(name, environ).unlink(missing_ok=True)
        with suppress(BadInput):  # which names none
            if current({**environ, CONTEXT_VARIABLE: ""}) == name:
                _pointer(environ).unlink(missing_ok=True)
    except OSError as problem:
        raise BadInput(f"{name} cannot be forgotten: {problem}.") from problem


def write(file: Path, text: str) -> None:
    """Write a file of ours, whole or not at all, that only its owner may read from the first on.

    Raises:
        BadInput: it cannot be written.
    """
    temporary = file.with_suffix(f".{os.urandom(4).hex()}.tmp")
    try:
        for folder in (file.parent.parent, file.parent):  # `parents` would leave them open
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as problem:
        raise BadInput(f"{file} cannot be written: {problem.strerror or problem}.") from problem


def _there_are(environ: Mapping[str, str]) -> str:
    known = names(environ)
    return f"There are: {', '.join(known)}" if known else "There is none yet"


def _pointer(environ: Mapping[str, str]) -> Path:
    return home(environ) / "context"
