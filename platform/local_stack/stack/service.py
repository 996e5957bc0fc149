"""Which processes make up the service, and with which environment does each run?"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.process_host import user_settings
from cluster.variables import EnvironmentVariables
from control_plane import database_roles
from control_plane.configuration import environment

from local_stack.checkout import Checkout
from local_stack.containers.prerequisites import Containers
from local_stack.processes import embedded_postgres, embedded_valkey
from local_stack.processes.child_process import ProcessSpec, always_ready
from local_stack.processes.own_ray import OwnRay
from local_stack.secrets_file import Secrets

CELERY = (sys.executable, "-m", "celery", "-A", "control_plane.celery:celery_app")
WORKER = ("worker", "--without-gossip", "--without-mingle", "--loglevel", "INFO")
FIRST_UID, UIDS_EACH, UID_RANGES = 1_900_000_000, 10_000, 8_000  # two users for each team
LATE_TICKS = 3  # a loop that misses so many does not turn


@dataclass(frozen=True, slots=True, kw_only=True)
class StackService:
    """One installation of the service on this machine."""

    checkout: Checkout
    secrets: Secrets
    port: int
    tick_seconds: float
    containers: Containers | None = None  # None: jobs run as processes
    ray: OwnRay | None = None  # or as processes of its nodes
    is_simulated: bool = False  # or only seem to
    counts_statements: bool = False  # our own PostgreSQL, by role and text

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def has_own_database(self) -> bool:
        """True if we run PostgreSQL ourselves."""
        return not os.environ.get("DATABASE_URL")

    def environment(
        self, role: str = database_roles.API, *, has_key: bool = True
    ) -> dict[str, str]:
        """Return the environment of a process of the service; in our database it has a role.

        Without the key it signs and opens nothing.
        """
        runtime_dir = self.checkout.runtime_dir
        given = os.environ
        return {
            "DJANGO_SETTINGS_MODULE": "control_plane.settings",
            "DATABASE_URL": given.get("DATABASE_URL")
            or embedded_postgres.url(runtime_dir, role=role),
            "REDIS_URL": given.get("REDIS_URL") or embedded_valkey.url(runtime_dir),
            **self._key(has_key=has_key),
            "CONCERTINA_STATE": str(self.checkout.state_dir / "state"),
            "CONCERTINA_SERVICE_URL": given.get("CONCERTINA_SERVICE_URL") or self.url,
            "CONCERTINA_INTERNAL_URL": self.url,
            "CONCERTINA_HOST_ID": self.checkout.identity,
            "CONCERTINA_TICK_SECONDS": str(self.tick_seconds),
            "CONCERTINA_TEAM_UIDS": given.get("CONCERTINA_TEAM_UIDS") or self._team_uids(),
            # A job's `python` is the one that has torch.
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            "PYTHONUNBUFFERED": "1",
            **(self.containers.environment(self.port) if self.containers else {}),
            **(self.ray.environment() if self.ray else {}),
            **self._users_on_ray(),
            **({"CONCERTINA_WORKER_HOST": "simulated"} if self.is_simulated else {}),
        }

    def _team_uids(self) -> str:
        """A range of its own for each checkout of the machine, as far as chance allows."""
        first = FIRST_UID + int(self.checkout.identity, 16) % UID_RANGES * UIDS_EACH
        return f"{first}-{first + UIDS_EACH - 1}"

    def _users_on_ray(self) -> dict[str, str]:
        """Let teams be apart on the nodes that are this machine, where they can be."""
        if self.ray is None:
            return {}
        uids = os.environ.get("CONCERTINA_TEAM_UIDS") or self._team_uids()
        users = user_settings.read(
            EnvironmentVariables({**os.environ, "CONCERTINA_TEAM_UIDS": uids})
        )
        return {"CONCERTINA_RAY_FIRST_UID": "" if users.why_not_used else str(users.range.first)}

    def why_jobs_are_trusted(self) -> str:
        """Return why jobs can do what the service can; empty: they cannot. Nothing is started yet.

        Raises:
            BadEnvironment: the service would not accept its environment.
        """
        configuration = environment.read({**os.environ, **self.environment()})
        return configuration.worker_host.why_jobs_are_trusted

    def _key(self, *, has_key: bool) -> dict[str, str]:
        if not has_key:
            return {"CONCERTINA_SIGNS": "no"}
        return {"CONCERTINA_SECRET_KEY": self.secrets.secret_key}

    def servers(self) -> tuple[ProcessSpec, ...]:
        """The embedded servers, for what the environment does not name.

        Raises:
            NoPostgres, NoValkey: the ones it names do not answer, or ours cannot run here.
        """
        return (*self._postgres(), *self._valkey())

    def _postgres(self) -> tuple[ProcessSpec, ...]:
        if not self.has_own_database:
            embedded_postgres.reach(os.environ["DATABASE_URL"])
            return ()
        spec = embedded_postgres.spec(
            data_dir=self.checkout.state_dir / "postgres",
            runtime_dir=self.checkout.runtime_dir,
            log=self.checkout.logs_dir / "postgres.log",
            counts_statements=self.counts_statements,
        )
        return (spec,)

    def _valkey(self) -> tuple[ProcessSpec, ...]:
        if os.environ.get("REDIS_URL"):
            embedded_valkey.reach(os.environ["REDIS_URL"])
            return ()
        spec = embedded_valkey.spec(
            data_dir=self.checkout.state_dir / "valkey",
            runtime_dir=self.checkout.runtime_dir,
            log=self.checkout.logs_dir / "valkey.log",
        )
        return (spec,)

    def processes(self) -> tuple[ProcessSpec, ...]:
        """The four processes of the service itself. They may start in any order."""
        schedule = str(self.checkout.state_dir / "beat-schedule")
        beat = (*CELERY, "beat", "--schedule", schedule, "--pidfile=")
        control = (*CELERY, *WORKER, "-Q", "control", "-c", "1", "-n", "control@%h")
        io = (*CELERY, *WORKER, "-Q", "io", "-c", "2", "-n", "io@%h")  # one may be simulating
        return (
            self._process("api", self._gunicorn(), is_ready=self._is_healthy),
            self._process("beat", beat, role=database_roles.IO, has_key=False),
            self._process(
                "control", control, role=database_roles.CONTROL, is_ready=self._is_loop_turning
            ),
            self._process("io", io, role=database_roles.IO),
        )

    def simulator(self) -> tuple[ProcessSpec, ...]:
        """The program that plays the processes of jobs, where they are simulated."""
        if not self.is_simulated:
            return ()
        state_dir = str(self.checkout.state_dir / "state")
        command = (sys.executable, "-m", "cluster.simulated_host.simulator")
        return (self._process("simulator", (*command, "--state-dir", state_dir)),)

    def _is_healthy(self) -> bool:
        return health(self.url).get("status") == "ok"

    def _is_loop_turning(self) -> bool:
        seconds_ago = health(self.url).get("control_loop_seconds_ago")
        return seconds_ago is not None and seconds_ago < self.tick_seconds * LATE_TICKS

    def _gunicorn(self) -> tuple[str, ...]:
        addresses = ["127.0.0.1", *([self.containers.gateway] if self.containers else [])]
        return api_command(self.port, addresses)

    def _process(
        self,
        name: str,
        command: tuple[str, ...],
        *,
        role: str = database_roles.API,
        has_key: bool = True,
        is_ready: Callable[[], bool] = always_ready,
    ) -> ProcessSpec:
        return ProcessSpec(
            name=name,
            command=command,
            log=self.checkout.logs_dir / f"{name}.log",
            working_directory=self.checkout.root,
            environment=self.environment(role, has_key=has_key),
            is_ready=is_ready,
        )


def api_command(port: int, addresses: Sequence[str]) -> tuple[str, ...]:
    """Return what runs `api` on a port of these addresses."""
    return (
        *(sys.executable, "-m", "gunicorn", "control_plane.asgi:application"),
        *("-k", "control_plane.gunicorn_worker.BoundedWorker"),
        *(word for one in addresses for word in ("--bind", f"{one}:{port}")),
        *("--workers", "1", "--graceful-timeout", "3", "--worker-connections", "4000"),
        *("--keep-alive", "30"),  # coordinators come again every few seconds
    )


def health(url: str) -> Mapping[str, Any]:
    """Return what the service says of itself; empty when it does not answer."""
    try:
        with urllib.request.urlopen(f"{url}/api/v1/health", timeout=3) as answer:
            document: dict[str, Any] = json.load(answer)
            return document
    except (OSError, ValueError):
        return {}
