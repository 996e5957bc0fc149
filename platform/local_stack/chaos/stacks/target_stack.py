"""On which stack are faults inflicted? What of it can be seen and hit from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from local_stack import secrets_file, stack_record
from local_stack.chaos.containers import seen
from local_stack.chaos.containers.machines import Machines
from local_stack.chaos.disk_and_network.disk import PrivateDisk
from local_stack.chaos.observation import processes
from local_stack.chaos.observation.processes import JobProcess
from local_stack.checkout import Checkout
from local_stack.stack import background
from local_stack.stack.service import LATE_TICKS, StackService, health
from local_stack.stack.stack import Options
from local_stack.stack_record import ProcessRecord

LATE_SECONDS = 5.0  # a control loop that did not turn for so long, and 3 ticks, is not well
PIDS_APART_SECONDS = 2.0  # as a record has it, and as the kernel does


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetStack:
    """A stack that is ready, or was until a moment ago; its own, or somebody's."""

    checkout: Checkout
    options: Options
    url: str
    tokens: dict[str, str]
    shared_dir: Path  # where jobs, as whatever user they run, may write
    disk: PrivateDisk | None = None  # on which its state lies, if that is a disk of its own
    has_network: bool = False  # of its own
    prefix: str = "chaos"  # of the names of the jobs that train on it meanwhile
    is_somebodys: bool = False  # it was there before, and stays; nobody would start it again
    machines: Machines | None = None  # on which its jobs run in containers; None: as processes here

    @property
    def port(self) -> int:
        """The port where the service listens."""
        return int(self.url.rpartition(":")[2])

    @property
    def second_port(self) -> int:
        """The port where a second api would. In a network of its own nobody else has it."""
        return self.port + 1

    @property
    def ports(self) -> tuple[int, int]:
        return self.port, self.second_port

    @property
    def team_uids(self) -> str:
        """The ids of the users that jobs run as, `FIRST-LAST`; empty if they run as we do."""
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
        """The processes of its jobs at this moment."""
        if self.machines is not None:
            return seen.running(self.machines, self.checkout.identity)
        return processes.running(self.checkout.state_dir)

    @property
    def missing_machine(self) -> str:
        """The daemon that does not run; empty: all do that there should be."""
        return self.machines.missing if self.machines is not None else ""

    def look_after_machines(self) -> None:
        """Start daemons again that have ended, as systemd would."""
        if self.machines is not None:
            self.machines.look_after()

    def is_well(self) -> bool:
        """True if all its processes run, and the service says that it is well and plans."""
        record = stack_record.current(self.checkout)
        if record is None or len(list(self._processes())) < len(record.processes):
            return False
        return self.says_well()

    def says_well(self) -> bool:
        """True if the service says that it is well; it is asked over its network alone."""
        answer = health(self.url)
        seconds_ago = answer.get("control_loop_seconds_ago")
        late_seconds = max(LATE_SECONDS, LATE_TICKS * self.options.tick_seconds)
        is_turning = seconds_ago is not None and seconds_ago < late_seconds
        return answer.get("status") == "ok" and is_turning

    def revive(self, *, say: Callable[[str], None]) -> None:
        """Do what a person would do whose supervisor was killed: start it again."""
        self.look_after_machines()
        if not self.is_somebodys and not stack_record.is_up(self.checkout):
            background.start(self.checkout, self.options, ends_with_us=True, say=say)

    def service(self) -> StackService:
        return StackService(
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


def _process(pid: int) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        return process if process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.NoSuchProcess:
        return None
