"""`context ls`, `context use`, `context add`, `context rm`: which installation is meant?"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from concertina.commands.login import revoke
from concertina.commands.options import Output
from concertina.connection import contexts, credentials
from concertina.connection.credentials import Credentials
from concertina.errors import BadInput, ConcertinaError
from concertina.terminal.session import Session, session
from concertina.terminal.written import Format
from concertina.views.installation.contexts import contexts_table

app = typer.Typer(
    help="Keep several installations apart, each with its own login.", no_args_is_help=True
)


def _completed(begun: str) -> list[str]:
    """Return the names that a half-typed word may mean."""
    return [name for name in contexts.names() if name.startswith(begun)]


ContextName = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="As `context ls` shows it.",
        show_default=False,
        autocompletion=_completed,
    ),
]


@app.command("ls")
def ls(*, output: Output = Format.TABLE) -> None:
    """List the installations that are known here."""
    with session(output) as current:
        mine = contexts.current()
        found = [_listed(current, name, is_current=name == mine) for name in contexts.names()]
        current.terminal.show_rows(
            found, contexts_table(found), none="None yet. `concertina login URL` makes the first."
        )
        given = [name for name in credentials.VARIABLES if os.environ.get(name)]
        if given and not current.terminal.is_for_programs:
            current.terminal.say(f"{' and '.join(given)} count more than these.", style="yellow")


@app.command("use")
def use(name: ContextName, *, output: Output = Format.TABLE) -> None:
    """Mean this installation from now on."""
    with session(output) as current:
        contexts.check_that_it_exists(name)
        document = _document(name, is_current=True)
        contexts.use(name)
        current.terminal.show(document, f"{name}: {document['url']}")


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Up to 40 letters.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="Like http://host:8000.")],
    *,
    output: Output = Format.TABLE,
) -> None:
    """Remember an installation, without a login yet."""
    with session(output) as current:
        file = contexts.file_of(name)
        if file.exists():
            raise BadInput(f"There is a context {name!r} already. Remove it, or log in to it.")
        credentials.store(Credentials(url=credentials.normalised_url(url), token=""), file)
        current.terminal.show(
            _document(name, is_current=contexts.current() == name),
            f"Added. Log in: `concertina login --context {name}`.",
        )


@app.command("rm")
def rm(name: ContextName, *, output: Output = Format.TABLE) -> None:
    """Forget an installation; a token of your own is revoked as well."""
    with session(output) as current:
        contexts.check_that_it_exists(name)
        is_revoked = _revoked(current, name)
        contexts.forget(name)
        more = " Its token is revoked." if is_revoked else ""
        current.terminal.show({"forgotten": name, "revoked": is_revoked}, f"Forgot {name}.{more}")


def _revoked(current: Session, name: str) -> bool:
    """Revoke a context's token; what keeps it from that does not keep the context."""
    try:
        stored = credentials.stored_in(contexts.file_of(name))
        return stored is not None and revoke(current, stored)
    except ConcertinaError as error:
        current.terminal.say(f"{error.message} Its token still holds.", style="yellow")
        return False


def _listed(current: Session, name: str, *, is_current: bool) -> dict[str, str | bool]:
    """Return what is known of a context; one whose file is damaged does not hide the others."""
    try:
        return _document(name, is_current=is_current)
    except BadInput as damage:
        current.terminal.say(damage.message, style="yellow")
        return {"name": name, "url": "", "is_logged_in": False, "is_current": is_current}


def _document(name: str, *, is_current: bool) -> dict[str, str | bool]:
    kept = credentials.kept_in(contexts.file_of(name))
    url = kept.get("url", "")
    return {
        "name": name,
        "url": credentials.normalised_url(url) if url else "",
        "is_logged_in": bool(kept.get("token")),
        "is_current": is_current,
    }
