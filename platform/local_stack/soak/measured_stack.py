"""On which stack is the service measured? One of its own, whose machines are simulated."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from control_plane import database_roles

from local_stack import checkout as checkouts
from local_stack import secrets_file
from local_stack.checkout import Checkout
from local_stack.processes import embedded_postgres
from local_stack.secrets_file import Secrets
from local_stack.stack import background, preparation
from local_stack.stack.service import StackService
from local_stack.stack.stack import Options

PREFIX: Final = "concertina-soak-"
REAL_POOL: Final = "real"
REAL_SLOTS: Final = 2
# Rates protect a service from one caller; here one caller stands for many.
NO_RATES: Final = {"CONCERTINA_READ_RATE": "0", "CONCERTINA_WRITE_RATE": "0"}
_REAL_NODE: Final = """
from cluster.models import Node
Node.objects.filter(pool__name={pool!r}).update(host_url="process")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredStack:
    """A stack that is ready."""

    checkout: Checkout
    url: str
    secrets: Secrets
    tick_seconds: float

    @property
    def state_dir(self) -> Path:
        """The folder of the service."""
        return self.checkout.state_dir / "state"

    @property
    def database_url(self) -> str:
        return embedded_postgres.url(self.checkout.runtime_dir)

    def service(self) -> StackService:
        return StackService(
            checkout=self.checkout,
            secrets=self.secrets,
            port=int(self.url.rpartition(":")[2]),
            tick_seconds=self.tick_seconds,
            is_simulated=True,
        )


@contextmanager
def measured_stack(
    *, slots: int, tick_seconds: float, say: Callable[[str], None]
) -> Iterator[MeasuredStack]:
    """Start one, of which nothing is left at the end."""
    for name in [*os.environ]:
        if name in {"DATABASE_URL", "REDIS_URL"} or name.startswith("CONCERTINA_"):
            del os.environ[name]
    os.environ.update(NO_RATES)
    options = Options(slots=slots, tick_seconds=tick_seconds, host="simulated", is_measured=True)
    with ExitStack() as at_the_end:
        home = Path(tempfile.mkdtemp(prefix=PREFIX))
        at_the_end.callback(shutil.rmtree, home, ignore_errors=True)
        checkout = checkouts.find(home=home)
        at_the_end.callback(background.stop, checkout, say=say)
        record = background.start(checkout, options, ends_with_us=True, say=say)
        stack = MeasuredStack(
            checkout=checkout,
            url=record.url,
            secrets=secrets_file.load_or_create(checkout),
            tick_seconds=tick_seconds,
        )
        yield stack


def add_real_slots(stack: MeasuredStack) -> None:
    """Add a pool whose jobs are processes of this machine.

    Raises:
        PreparationFailed: with what Django said.
    """
    service = stack.service()
    owner = database_roles.OWNER
    teams = [f"--team={team}={REAL_SLOTS // 2}" for team in preparation.TEAMS]
    sizes = ("--nodes", "1", "--slots", str(REAL_SLOTS))
    preparation.manage(service, "bootstrap", "--pool", REAL_POOL, *sizes, *teams, role=owner)
    script = _REAL_NODE.format(pool=REAL_POOL)
    preparation.manage(service, "shell", "--command", script, role=owner)


def contradictions(stack: MeasuredStack) -> tuple[str, ...]:
    """Return what the service finds wrong in its own database, or why it cannot tell."""
    try:
        preparation.manage(stack.service(), "contradictions", role=database_roles.OWNER)
    except preparation.PreparationFailed as found:
        return (str(found),)
    return ()
