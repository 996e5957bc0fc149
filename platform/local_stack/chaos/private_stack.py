"""On which stack are faults inflicted? One of its own, of which nothing is left at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from local_stack import background, secrets_file, stack_record
from local_stack import checkout as checkouts
from local_stack.chaos import processes
from local_stack.chaos.containers import environment, seen
from local_stack.chaos.containers.machines import Machines
from local_stack.chaos.processes import JobProcess
from local_stack.chaos.surroundings import disk as disks
from local_stack.chaos.surroundings import earlier_runs
from local_stack.chaos.surroundings.disk import PrivateDisk
from local_stack.chaos.surroundings.namespaces import Surroundings
from local_stack.checkout import Checkout
from local_stack.service import Service, health
from local_stack.stack import Options
from local_stack.stack_record import ProcessRecord

SLOTS = 4  # on two machines, 2 each
LATE_SECONDS = 5.0  # a control loop that did not turn for so long is not well
PIDS_APART_SECONDS = 2.0  # as a record has it, and as the kernel does


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateStack:
    """A stack that is ready, or was until a moment ago."""

    checkout: Checkout
    options: Options
    url: str
    tokens: dict[str, str]
    shared_dir: Path  # where jobs, as whatever user they run, may write
    disk: PrivateDisk | None = None  # on which its state lies, if that is a disk of its own
    has_network: bool = False  # of its own
    machines: Machines | None = None  # on which its jobs run in containers; None: as processes here

    @property
    def port(self) -> int:
        """Where the service listens."""
        return int(self.url.rpartition(":")[2])

    @property
    def second_port(self) -> int:
        """Where a second api would. In a network of its own nobody else has it."""
        return self.port + 1

    @property
    def ports(self) -> tuple[int, int]:
        return self.port, self.second_port

    @property
    def team_uids(self) -> str:
        """Of the users that jobs run as, `FIRST-LAST`; empty: they run as we do."""
        service = self.service()
        if service.why_jobs_are_trusted():
            return ""
        return service.environment()["CONCERTINA_TEAM_UIDS"]

    def process(self, name: str) -> psutil.Process | None:
        """The supervised process of this name as it runs now."""
        return next((p for one, p in self._processes() if one.name == name), None)

    @property
    def supervisor(self) -> psutil.Process | None:
        record = stack_record.current(self.checkout)
        return _process(record.supervisor_pid) if record is not None else None

    def job_processes(self) -> list[JobProcess]:
        """Those of its jobs, at this moment."""
        if self.machines is not None:
            return seen.running(self.machines, self.checkout.identity)
        return processes.running(self.checkout.state_dir)

    @property
    def missing_machine(self) -> str:
        """Which daemon does not run; empty: all do that there should be."""
        return self.machines.missing if self.machines is not None else ""

    def look_after_machines(self) -> None:
        """As systemd would."""
        if self.machines is not None:
            self.machines.look_after()

    def is_well(self) -> bool:
        """Whether all its processes run, and the service says that it is well and plans."""
        record = stack_record.current(self.checkout)
        if record is None or len(list(self._processes())) < len(record.processes):
            return False
        return self.says_well()

    def says_well(self) -> bool:
        """Whether the service says that it is. Asked over its network alone."""
        told = health(self.url)
        seconds_ago = told.get("control_loop_seconds_ago")
        is_turning = seconds_ago is not None and seconds_ago < LATE_SECONDS
        return told.get("status") == "ok" and is_turning

    def revive(self, *, say: Callable[[str], None]) -> None:
        """Do what a person would do whose supervisor was killed: start it again."""
        self.look_after_machines()
        if not stack_record.is_up(self.checkout):
            background.start(self.checkout, self.options, ends_with_us=True, say=say)

    def service(self) -> Service:
        return Service(
            checkout=self.checkout,
            secrets=secrets_file.load_or_create(self.checkout),
            port=self.port,
            tick_seconds=self.options.tick_seconds,
        )

    def _processes(self) -> Iterator[tuple[ProcessRecord, psutil.Process]]:
        record = stack_record.current(self.checkout)
        for one in record.processes if record else ():
            process = _process(one.pid)
            if process and abs(process.create_time() - one.started_at) < PIDS_APART_SECONDS:
                yield one, process


@contextmanager
def private_stack(
    *,
    tick_seconds: float,
    surroundings: Surroundings,
    machines: Machines | None = None,
    say: Callable[[str], None],
) -> Iterator[PrivateStack]:
    """Started here, in a folder of its own below the one for temporary files."""
    host = "docker" if machines is not None else "process"
    options = Options(slots=SLOTS, tick_seconds=tick_seconds, host=host)
    _forget_other_services()
    if machines is not None:
        os.environ.update(environment.of_service(machines))
    with ExitStack() as at_the_end:
        home = at_the_end.enter_context(earlier_runs.folder(say=say))
        shared_dir = home / "jobs"
        shared_dir.mkdir()
        shared_dir.chmod(0o777)
        disk = None
        if surroundings.has_mounts:
            disk = at_the_end.enter_context(disks.mounted(home / "disk", home / "home"))
        checkout = checkouts.find(home=home / "home")
        at_the_end.callback(background.stop, checkout, say=say)
        record = background.start(checkout, options, ends_with_us=True, say=say)
        stack = PrivateStack(
            checkout=checkout,
            options=options,
            url=record.url,
            tokens=dict(secrets_file.load_or_create(checkout).tokens),
            shared_dir=shared_dir,
            disk=disk,
            has_network=surroundings.has_network,
            machines=machines,
        )
        if machines is not None:
            environment.register(machines, stack.service())
        yield stack


def _forget_other_services() -> None:
    """Neither servers nor settings of another service are for this one."""
    for name in [*os.environ]:
        if name in {"DATABASE_URL", "REDIS_URL"} or name.startswith("CONCERTINA_"):
            del os.environ[name]


def _process(pid: int) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        return process if process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.NoSuchProcess:
        return None
