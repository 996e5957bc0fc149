"""What does a run of the stack do? Start servers, schema, teams and service; watch; stop."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from local_stack import checkout as checkouts
from local_stack import gpus, secrets_file, stack_record
from local_stack.checkout import Checkout
from local_stack.containers import ending, images, own_daemon, prerequisites
from local_stack.containers import endpoint as endpoints
from local_stack.containers.endpoint import DaemonAddress
from local_stack.containers.prerequisites import Containers
from local_stack.processes import embedded_postgres, own_ray
from local_stack.processes.supervisor import StackSupervisor
from local_stack.stack import leftovers, preparation
from local_stack.stack.note_keeper import NoteKeeper
from local_stack.stack.service import StackService
from local_stack.stack_record import StackPhase, StackRecord
from local_stack.terminal import duration

WATCH_SECONDS = 0.2  # how often the processes are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a person may choose for a run of the stack."""

    slots: int | None = None  # None: one for each GPU, else a default
    tick_seconds: float = 5.0
    host: str = "process"  # or "docker", "ray", or "simulated"
    is_measured: bool = False  # its statements are counted


class Stack:
    """One run of everything on this machine."""

    def __init__(
        self,
        checkout: Checkout,
        options: Options,
        *,
        say: Callable[[str], None],
        on_ready: Callable[[Checkout, StackRecord], None],
    ) -> None:
        """Speak to a person through `say`, and call `on_ready` once everything answers."""
        self._checkout = checkout
        self._options = options
        self._say = say
        self._on_ready = on_ready
        self._supervisor = StackSupervisor(say=say)
        self._notes = NoteKeeper(checkout, say=say)
        self._record = StackRecord(
            phase=StackPhase.STARTING,
            doing="starting",
            supervisor_pid=os.getpid(),
            started_at=time.time(),
            url="",
        )

    def run(self) -> None:
        """Start, watch until SIGINT or SIGTERM, stop in order.

        Raises:
            AlreadyUp: another supervisor of this checkout runs.
            PreparationFailed, NotReady, NoServer, StepFailed, DriverDoesNotAnswer: it could not
                start; nothing is left.
        """
        self._be_discreet()
        self._checkout.make_folders()
        with stack_record.exclusive(self._checkout):
            try:
                self._start()
                self._watch()
            except KeyboardInterrupt:
                self._say("Stopping…")
            finally:
                self._stop()

    def _be_discreet(self) -> None:
        """Keep others from writing the files of the service's processes, whatever the umask was.

        Nor reads it, but for the users of containers, who read what they are given.
        """
        os.umask(0o022 if self._options.host == "docker" else 0o077)

    def _start(self) -> None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        began = time.monotonic()
        leftovers.sweep_processes(self._checkout, say=self._say)
        endpoint = endpoints.choose(self._checkout) if self._options.host == "docker" else None
        self._end_containers_elsewhere(endpoint)
        service = self._service()
        self._update(url=service.url)
        if endpoint is not None:
            service = replace(service, containers=self._containers(endpoint))
        elif self._options.host == "ray":
            ray = own_ray.prepare(self._checkout, preferred_port=service.port)
            service = replace(service, ray=ray)
        self._update(why_jobs_are_trusted=service.why_jobs_are_trusted())
        self._warn_of_jobs()
        with self._step("PostgreSQL and Valkey"):
            self._supervisor.start(*service.servers())
            if service.has_own_database:
                embedded_postgres.ensure_database(self._checkout.runtime_dir)
                embedded_postgres.ensure_roles(self._checkout.runtime_dir)
        with self._step("Database schema"):
            preparation.migrate(service)
        with self._step("Teams and admin"):
            preparation.bootstrap(service, self._supply())
        self._start_ray(service)
        with self._step("api, beat, control and io"):
            self._supervisor.start(*service.simulator(), *service.processes())
        self._say(f"Ready in {duration(time.monotonic() - began)}.")
        self._update(phase=StackPhase.READY, doing="ready")
        self._on_ready(self._checkout, self._record)

    def _start_ray(self, service: StackService) -> None:
        if service.ray is None:
            return
        supply = self._supply()
        names = preparation.names_of_nodes(supply)
        with self._step(f"Ray: a head and {len(names)} nodes"):
            slots = supply.slots // supply.nodes
            for spec in service.ray.specs(names, slots=slots, has_gpus=bool(supply.uuids)):
                self._supervisor.start(spec)

    def _supply(self) -> gpus.Supply:
        if self._options.host == "simulated":
            return gpus.simulated(self._options.slots)
        supply = gpus.supply(gpus.find(), self._options.slots)
        if self._options.host == "ray":
            return gpus.shared_out(supply, nodes=own_ray.NODES)
        return supply

    def _warn_of_jobs(self) -> None:
        if why := self._record.why_jobs_are_trusted:
            self._say(f"  ! Whoever may submit a job can do what this user can: {why}.")

    def _end_containers_elsewhere(self, endpoint: DaemonAddress | None) -> None:
        """End the containers of an earlier run that was killed, unless this one takes them over."""
        previous = stack_record.read(self._checkout)
        left = previous.docker_url if previous else ""
        if left and (endpoint is None or endpoint.url != left):
            ending.end(self._checkout, left, say=self._say)

    def _containers(self, endpoint: DaemonAddress) -> Containers:
        """Docker comes first and goes last: what runs in it must be ended before."""
        self._update(docker_url=endpoint.url)
        if endpoint.is_ours:
            with self._step("Docker"):
                self._supervisor.start(own_daemon.spec(self._checkout))
        worker_image = images.worker_image(self._checkout, endpoint.url)
        return prerequisites.prepare(
            endpoint, host_id=self._checkout.identity, worker_image=worker_image
        )

    def _service(self) -> StackService:
        previous = stack_record.read(self._checkout)
        preferred = self._checkout.preferred_port
        if previous is not None and previous.url:
            preferred = int(previous.url.rpartition(":")[2])
        return StackService(
            checkout=self._checkout,
            secrets=secrets_file.load_or_create(self._checkout),
            port=checkouts.free_port(preferred),
            tick_seconds=self._options.tick_seconds,
            is_simulated=self._options.host == "simulated",
            counts_statements=self._options.is_measured,
        )

    def _watch(self) -> None:
        while True:
            if self._supervisor.run_once() or self._notes.is_behind:
                self._update()
            time.sleep(WATCH_SECONDS)

    def _stop(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # once is enough
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._update(phase=StackPhase.STOPPING, doing="stopping")
        self._supervisor.stop(down_to=own_daemon.NAME)
        leftovers.sweep_training(self._checkout, say=self._say)
        if self._record.docker_url:
            self._end_containers(self._record.docker_url)
        self._supervisor.stop()
        own_daemon.let_go(self._checkout)
        shutil.rmtree(self._checkout.runtime_dir, ignore_errors=True)
        self._update(doing="stopped")

    def _end_containers(self, docker_url: str) -> None:
        if ending.end(self._checkout, docker_url, say=self._say):
            self._update(docker_url="")

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        self._update(doing=name)
        began = time.monotonic()
        yield
        self._say(f"  ✓ {name} ({duration(time.monotonic() - began)})")

    def _update(self, **changes: object) -> None:
        processes = self._supervisor.records()
        self._record = replace(self._record, processes=processes, **changes)  # type: ignore[arg-type] # the fields' names are ours
        self._notes.note(self._record)
