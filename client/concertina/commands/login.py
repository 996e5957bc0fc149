"""`login`, `logout`, `whoami`: as whom do we talk to which service?"""

from __future__ import annotations

import os
import platform
import re
import sys
import webbrowser
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from concertina import words
from concertina.commands.options import Output
from concertina.connection import contexts, credentials
from concertina.connection.credentials import Credentials
from concertina.connection.questions.personal_tokens import PREFIX
from concertina.errors import BadInput, NotAllowed, RefusedByService
from concertina.input import secret_input
from concertina.terminal.session import session
from concertina.terminal.written import Format

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from concertina.client import Client
    from concertina.documents import MadePersonalToken
    from concertina.terminal.session import Session

_LONGEST_NAME = 80  # of a token


def login(
    url: Annotated[
        str | None,
        typer.Argument(
            metavar="[URL]",
            help="Like http://host:8000. Default: the context's.",
            show_default=False,
        ),
    ] = None,
    *,
    context: Annotated[
        str | None,
        typer.Option(
            "--context",
            metavar="NAME",
            help="Under which name to remember it, which is then in use. Default: the one in use.",
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="USER",
            help="Yourself; the password is asked for, or read from a pipe. A token of your own is"
            " made and kept here, the password is not.",
        ),
    ] = None,
    token: Annotated[
        str,
        typer.Option(
            envvar=credentials.TOKEN_VARIABLE,
            help="A key: of a team (ct_…), or your own (cp_…). Without it and --as, you say yes"
            " in your browser, and a token of your own is made.",
            show_envvar=True,
        ),
    ] = "",
    name: Annotated[
        str, typer.Option("--name", help="Without --token: its name. Default: this machine's.")
    ] = "",
    scopes: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            metavar="SCOPE",
            help="Without --token: read, submit, manage-jobs, manage-team or admin; may be"
            " repeated. Default: all but admin.",
        ),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option("--days", min=1, help="Without --token: until it expires. Default: 90."),
    ] = None,
    browser: Annotated[
        bool | None,
        typer.Option(
            "--browser/--no-browser",
            help="Open the page where you say yes, or only print its address. Default: open it, on"
            " a terminal, if this machine shows windows.",
            show_default=False,
        ),
    ] = None,
    output: Output = Format.TABLE,
) -> None:
    """Remember a service, and a token with which to talk to it."""
    from concertina.client import Client  # noqa: PLC0415 - `--help` has no use for HTTP

    with session(output) as current:
        place = contexts.current() if context is None else contexts.checked(context)
        address = credentials.normalised_url(_address(url, place))
        is_given = bool(token) and person is None
        key = token.strip()
        if not is_given:
            with Client(address, "", on_delay=current.terminal.say_delay) as client:
                wished = _WishedToken(name=name or _name_here(), days=days, scopes=scopes)
                if person is None:
                    made = _granted(current, client, wished, opens=browser)
                else:
                    with client.as_person(person, secret_input.password(None)):
                        made = _made(current, client, wished)
            key = made["key"]
            _say_until_when(current, made)
        found = Credentials(url=address, token=key)
        with Client(found.url, found.token, on_delay=current.terminal.say_delay) as client:
            name_there = None if is_given else client.who()
            teams = [team["name"] for team in client.teams()]
            notices = client.notices()
        file = contexts.file_of(place)
        credentials.store(found, file)
        if context is not None:
            contexts.use(place)
        who = "" if name_there is None else f" as {name_there}"
        current.terminal.show(
            {"url": found.url, "teams": teams, "stored_in": str(file), "notices": notices},
            f"Logged in to {found.url}{who}. Sees: {', '.join(teams) or 'no team yet'}. "
            f"Stored in {file}.",
        )
        for notice in notices:
            current.terminal.say(notice, style="yellow")


def logout(*, output: Output = Format.TABLE) -> None:
    """Forget what `login` remembered; a token of your own is revoked as well."""
    with session(output) as current:
        file = credentials.config_file()
        stored = credentials.stored()
        is_revoked = stored is not None and revoke(current, stored)
        if not _forgot(file, stored):
            raise NotAllowed("Nobody is logged in here.", code="not_logged_in")
        more = " Its token is revoked." if is_revoked else ""
        gone = "Its address is kept." if file.exists() else f"{file} is gone."
        current.terminal.show(
            {"forgotten": str(file), "revoked": is_revoked}, f"Logged out. {gone}{more}"
        )


def whoami(*, output: Output = Format.TABLE) -> None:
    """Say which service this is, as whom we talk to it, and where both come from."""
    with session(output) as current:
        client = current.client
        person = client.who() if credentials.load().token.startswith(PREFIX) else None
        teams = [team["name"] for team in client.teams() if team["is_mine"]]
        origin = credentials.origin()
        who = "" if person is None else f" as {person}"
        current.terminal.show(
            {
                "url": client.url,
                "person": person,
                "teams": teams,
                "from": origin,
                "context": None if credentials.are_all_given() else contexts.current(),
            },
            f"{client.url}{who}, for {', '.join(teams) or 'no team'}. From {origin}.",
            is_uncut=True,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _WishedToken:
    """What the token of a login shall be; None: as the service usually has it."""

    name: str
    days: int | None
    scopes: list[str] | None


def _made(current: Session, client: Client, wished: _WishedToken) -> MadePersonalToken:
    """Make a token in place of the one that an earlier login from here made."""
    tokens, name = client.personal_tokens, wished.name
    try:
        return tokens.add(name, days=wished.days, scopes=wished.scopes)
    except RefusedByService as refusal:  # nothing else is wrong with what is wanted
        if refusal.code != "token_exists":
            raise
        for one in tokens.list()["items"]:
            if one["name"] == name and one["state"] == "valid":
                tokens.revoke(one["id"])
        current.terminal.say(f"Your former token {name} is revoked.")
        return tokens.add(name, days=wished.days, scopes=wished.scopes)


def _granted(
    current: Session, client: Client, wished: _WishedToken, *, opens: bool | None
) -> MadePersonalToken:
    """Wait until somebody has said yes in a browser; `opens` None: open it if there is a screen."""
    _check_that_somebody_reads(is_sure=opens is not None)
    asked = client.device_logins.start(wished.name, days=wished.days, scopes=wished.scopes)
    is_opened = shows_windows(sys.platform, os.environ) if opens is None else opens
    _tell(current, client, asked["user_code"], opens=is_opened)
    return client.device_logins.wait(asked)


def _tell(current: Session, client: Client, code: str, *, opens: bool) -> None:
    """Say where the code is to be typed. The address bears no code: nobody is to send it on."""
    page = f"{client.url}/device"
    current.terminal.say(f"Your code: {code}")
    if opens and webbrowser.open(page):
        current.terminal.say(f"Type it on the page that opens in your browser: {page}")
    else:
        current.terminal.say(f"Type it on this page, in any browser: {page}")


def shows_windows(system: str, environ: Mapping[str, str]) -> bool:
    """True if a browser would have a screen: one of text takes the terminal, and shows no page."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    return system in ("darwin", "win32") or any(environ.get(name) for name in screens)


def _say_until_when(current: Session, made: MadePersonalToken) -> None:
    until = made["expires_at"]
    if until is not None:
        current.terminal.say(f"Token {made['name']} expires at {words.date_time(until)}.")


def _name_here() -> str:
    """Return this machine's name, as a token may be called."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", platform.node()).lstrip("._-")
    return (plain or f"login-{os.getpid()}")[:_LONGEST_NAME]


def _address(url: str | None, context: str) -> str:
    """Return which service is meant.

    Raises:
        BadInput: neither an argument nor the context says.
    """
    address = url or credentials.kept_in(contexts.file_of(context)).get("url")
    if not address:
        raise BadInput("Say which service: `concertina login URL`.")
    return address


def _forgot(file: Path, stored: Credentials | None) -> bool:
    """Forget a key; what was named keeps its address. False: there was none."""
    if file == contexts.file_of(contexts.DEFAULT):
        return credentials.forget(file)
    if stored is not None:
        credentials.store(Credentials(url=stored.url, token=""), file)
    return stored is not None


def revoke(current: Session, stored: Credentials) -> bool:
    """Revoke a personal token; a team's is others' as well. False if it could not be, or was."""
    from concertina.client import Client  # noqa: PLC0415 - `--help` has no use for HTTP

    if not stored.token.startswith(PREFIX):
        return False
    with Client(stored.url, stored.token, on_delay=current.terminal.say_delay) as client:
        try:
            (itself,) = client.personal_tokens.list()["items"]
            client.personal_tokens.revoke(itself["id"])
        except NotAllowed:  # it has ended already
            return False
    return True


def _check_that_somebody_reads(*, is_sure: bool) -> None:
    """Refuse to wait for minutes in a pipeline, where nobody reads a code."""
    if not is_sure and not sys.stdin.isatty():
        raise BadInput(
            "Say who you are with --as, or give a key with --token or CONCERTINA_TOKEN; with"
            " --no-browser you say yes in a browser elsewhere."
        )
