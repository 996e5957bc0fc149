"""Under which roles do the services use the database, and how many connections has each?

`python -m control_plane.database_roles FILE...` makes them, with `DATABASE_URL` a superuser's. Each
file holds the `DATABASE_URL` of one role, whose password it gets.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import psycopg2
from cluster.variables import BadEnvironment, EnvironmentVariables
from psycopg2 import sql
from psycopg2.extensions import encrypt_password

_SCRIPT: Final = Path(__file__).with_suffix(".sql")
OWNER: Final = "concertina_owner"
API: Final = "concertina_api"
CONTROL: Final = "concertina_control"
IO: Final = "concertina_io"
# Together below PostgreSQL's own 100, less the three that it keeps for superusers. A process of
# `api` takes 20 (15 threads of `front.bulkheads`, two that read for open pages, one that reads
# events, and two that ask for all streams), so there is room for three.
CONNECTIONS: Final[Mapping[str, int]] = {OWNER: 5, API: 60, CONTROL: 10, IO: 15}


def establish(
    superuser_url: str,
    *,
    passwords: Mapping[str, str],
    connections: Mapping[str, int] = CONNECTIONS,
) -> None:
    """Bring the roles into order; a role without a password here keeps its own."""
    with (
        closing(psycopg2.connect(superuser_url)) as connection,
        connection,
        connection.cursor() as cursor,
    ):
        # One at a time: two who make the same role at once would be in each other's way.
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('concertina roles'))")
        cursor.execute(_SCRIPT.read_text())
        for role, most in connections.items():
            cursor.execute(_alter(role, "CONNECTION LIMIT {}", most))
        for role, password in passwords.items():
            sealed = encrypt_password(password, role, connection, "scram-sha-256")
            cursor.execute(_alter(role, "PASSWORD {}", sealed))


def _alter(role: str, what: str, value: Any) -> sql.Composed:
    return sql.SQL("ALTER ROLE {} " + what).format(sql.Identifier(role), sql.Literal(value))


def read_passwords(files: Iterable[Path]) -> dict[str, str]:
    """Read the password of each role from the addresses by which the services connect.

    Raises:
        BadEnvironment: a file is missing, or belongs to none of the roles.
    """
    found = {}
    for file in files:
        try:
            parts = urlsplit(file.read_text().strip())
        except (OSError, ValueError) as problem:
            raise BadEnvironment(f"{file} cannot be read: {problem}.") from problem
        role, password = unquote(parts.username or ""), unquote(parts.password or "")
        if role not in CONNECTIONS or not password:
            raise BadEnvironment(
                f"{file} names the role {role!r}, or no password. Write"
                f" postgresql://ROLE:PASSWORD@postgres/concertina, with one of"
                f" {', '.join(CONNECTIONS)}."
            )
        found[role] = password
    return found


def main(files: Sequence[str]) -> None:
    """Say what was done, or end with a sentence."""
    variables = EnvironmentVariables(dict(os.environ))
    try:
        most = variables.whole("CONCERTINA_API_CONNECTIONS", default=CONNECTIONS[API], at_least=1)
        establish(
            variables.secret("DATABASE_URL"),
            passwords=read_passwords(map(Path, files)),
            connections={**CONNECTIONS, API: most},
        )
    except (BadEnvironment, psycopg2.Error) as problem:
        sys.exit(f"The database's roles were not made: {problem}")
    sys.stdout.write(f"The database's roles are as they should be; {API}: {most} connections.\n")


if __name__ == "__main__":
    main(sys.argv[1:])
