"""Which service do we talk to, and as whom?

`CONCERTINA_URL` and `CONCERTINA_TOKEN` win, each for itself; else the file that
`concertina login` wrote for the context that is meant, which only its owner may read.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from concertina.connection import contexts
from concertina.errors import BadInput, NotAllowed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

URL_VARIABLE = "CONCERTINA_URL"
TOKEN_VARIABLE = "CONCERTINA_TOKEN"  # noqa: S105 - the variable's name

VARIABLES: Final = (URL_VARIABLE, TOKEN_VARIABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """An address and a key to it."""

    url: str  # without a trailing slash
    token: str


def config_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where the login of the context that is meant is stored."""
    return contexts.file_of(contexts.current(environ), environ)


def load(environ: Mapping[str, str] = os.environ) -> Credentials:
    """The credentials in force.

    Raises:
        NotAllowed: there are none.
        BadInput: the stored file or the address is damaged, or there is no such context.
    """
    name = contexts.current(environ)
    if name != contexts.DEFAULT and not are_all_given(environ):
        contexts.check_that_it_exists(name, environ)
    kept = kept_in(contexts.file_of(name, environ))
    url = environ.get(URL_VARIABLE) or kept.get("url", "")
    token = environ.get(TOKEN_VARIABLE) or kept.get("token", "")
    if not url or not token:
        missing = URL_VARIABLE if not url else TOKEN_VARIABLE
        raise NotAllowed(
            "Not logged in: run `concertina login URL`, or with a team's `--token ct_…`, "
            f"or set {missing}.",
            code="not_logged_in",
        )
    return Credentials(url=normalised_url(url), token=token)


def stored(environ: Mapping[str, str] = os.environ) -> Credentials | None:
    """What `concertina login` wrote, whatever variables say; None: nothing, or not all of it."""
    return stored_in(config_file(environ))


def stored_in(file: Path) -> Credentials | None:
    """Return what a file has; None: nothing, or not all of it."""
    found = kept_in(file)
    if not found.get("url") or not found.get("token"):
        return None
    return Credentials(url=normalised_url(found["url"]), token=found["token"])


def origin(environ: Mapping[str, str] = os.environ) -> str:
    """Return, for people, where the credentials in force come from."""
    given = [name for name in VARIABLES if environ.get(name)]
    return " and ".join([*given, str(config_file(environ))][:2])


def are_all_given(environ: Mapping[str, str] = os.environ) -> bool:
    """True if variables say all of it, so that no context counts."""
    return all(environ.get(name) for name in VARIABLES)


def store(credentials: Credentials, file: Path) -> None:
    """Write so that nobody else can read, not even for the moment of writing.

    Raises:
        BadInput: it cannot be written.
    """
    contexts.write(file, json.dumps(asdict(credentials), indent=2))


def forget(file: Path) -> bool:
    """Delete what `store` wrote; False if there was nothing."""
    try:
        file.unlink()
    except FileNotFoundError:
        return False
    return True


def normalised_url(url: str) -> str:
    """`localhost:8000/` -> `http://localhost:8000`.

    Raises:
        BadInput: this cannot be a service's address.
    """
    if "@" in url:  # and it is not repeated
        raise BadInput(
            "The address of a service has no name and no password in it. Use one like"
            " http://host:8000: `concertina login` asks who you are."
        )
    full = url if "://" in url else f"http://{url}"
    if not _is_address(full):
        raise BadInput(f"{url!r} is not the address of a service. Use one like http://host:8000.")
    return full.rstrip("/").removesuffix("/api/v1")


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # checked when read
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def kept_in(file: Path) -> dict[str, str]:
    """Return the fields of a file, none if there is no file. Raises: BadInput (it is damaged)."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read ({error}). Log in again, or delete it.") from error
    if not isinstance(content, dict):
        raise BadInput(f"{file} is damaged. Log in again, or delete it.")
    return {key: str(value) for key, value in content.items()}
