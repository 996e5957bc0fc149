"""What must the database hold before the service starts? The schema; a pool, teams and an admin.

Each step runs Django once, which takes seconds, so it is stamped: a restart skips what is done.
A database that `DATABASE_URL` names belongs to somebody else, and is looked after every time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from control_plane import database_roles

from local_stack import secrets_file
from local_stack.containers import image_names
from local_stack.gpus import Supply
from local_stack.set_up.stamp import Stamp, digest_of
from local_stack.stack.service import StackService

POOL = "default"
TEAMS = ("vision", "language")
PACKAGES = ("autoscaler", "jobs", "platform")  # those with migrations


class PreparationFailed(Exception):
    """A management command did not succeed."""


def migrate(service: StackService) -> None:
    """Bring the database's schema up to date.

    Raises:
        PreparationFailed: with what Django said.
    """
    stamp = _stamp(service, "schema", digest_of(_migrations(service.checkout.root)))
    if service.has_own_database and stamp.is_valid:
        return
    manage(service, "migrate", "--no-input", role=database_roles.OWNER)
    stamp.set()


def bootstrap(service: StackService, supply: Supply) -> None:
    """Make the pool, the demo's two teams and the admin, and keep their secrets.

    What people change later in the administration stays, unless the machine's GPUs change, or
    the number of slots.

    Raises:
        PreparationFailed: with what Django said.
    """
    stamp = _stamp(service, "bootstrap", digest_of([], str(supply), *TEAMS, *_images(service)))
    if service.has_own_database and stamp.is_valid and _has_all_tokens(service):
        return
    _bootstrap(service, supply)
    stamp.set()


def guarantees(slots: int) -> dict[str, int]:
    """The machine shared out among the two teams, as evenly as whole GPUs allow."""
    half = slots // 2
    return dict(zip(TEAMS, (slots - half, half), strict=True))


def names_of_nodes(supply: Supply) -> tuple[str, ...]:
    """Return them as `bootstrap` calls them."""
    return tuple(f"{POOL}-{number}" for number in range(1, supply.nodes + 1))


def manage(
    service: StackService, *arguments: str, role: str = database_roles.API, **environment: str
) -> str:
    """Run one of the service's management commands and return what it printed.

    What nobody else on the machine may see goes into the environment.

    Raises:
        PreparationFailed: with what Django said.
    """
    ran = subprocess.run(
        (sys.executable, "manage.py", *arguments),
        cwd=service.checkout.root,
        env={**os.environ, **service.environment(role), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        log = service.checkout.logs_dir / "prepare.log"
        log.write_text(ran.stderr)
        last_line = (ran.stderr.strip().splitlines() or ["without a word"])[-1]
        raise PreparationFailed(f"manage.py {arguments[0]} failed: {last_line} (log: {log})")
    return ran.stdout


def _bootstrap(service: StackService, supply: Supply) -> None:
    teams = [f"--team={name}={share}" for name, share in guarantees(supply.slots).items()]
    printed = manage(
        service,
        *("bootstrap", "--pool", POOL, "--nodes", str(supply.nodes), *teams),
        *("--slots", str(supply.slots // supply.nodes)),
        *("--gpu-type", supply.kind, f"--gpu-uuids={','.join(supply.uuids)}"),
        *(f"--image={image}" for image in _images(service)),
        *(["--teams-trust-each-other"] if service.ray and service.why_jobs_are_trusted() else []),
        *([] if _has_all_tokens(service) else ["--new-tokens", "--new-admin-password"]),
        CONCERTINA_ADMIN_PASSWORD=service.secrets.admin_password,
    )
    new = {team: key for team, key in json.loads(printed)["tokens"].items() if key is not None}
    secrets_file.save(service.checkout, service.secrets.with_tokens(new))


def _images(service: StackService) -> tuple[str, ...]:
    """Return what every team may run besides the worker image: the demo's."""
    return (image_names.tag(image_names.DEMO),) if service.containers else ()


def _has_all_tokens(service: StackService) -> bool:
    """True if we know each team's token; the service itself keeps only their digests."""
    return all(service.secrets.tokens.get(team) for team in TEAMS)


def _stamp(service: StackService, name: str, digest: str) -> Stamp:
    """Stamps lie beside the database, and go when it goes."""
    return Stamp(file=service.checkout.state_dir / f"{name}.stamp", digest=digest)


def _migrations(root: Path) -> Iterator[Path]:
    for package in PACKAGES:
        yield from (root / package).rglob("migrations/*.py")
