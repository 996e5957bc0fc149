"""What becomes of a container that is not wanted any more, and of all that belongs to it?

To remove a container may take minutes, or be refused for hours. So it is only written down that a
process is forgotten; what is left of it goes in the background, begun again at each look.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import docker.errors

from cluster.background.background_jobs import BackgroundJobs
from cluster.docker_host.connection.connections import Connections, asking, asking_for
from cluster.docker_host.connection.daemons import Daemons
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container import containers
from cluster.docker_host.container.observing import RUNNING
from cluster.docker_host.lifecycle.inventory import FoundContainer, Inventory
from cluster.docker_host.lifecycle.network_sweep import NetworkSweep
from cluster.docker_host.lifecycle.steps import ContainerObservation, LifecycleStep, look_at
from cluster.docker_host.lifecycle.stopping import Stopper, note_wish
from cluster.docker_host.logs.copying import LogSource
from cluster.docker_host.logs.following import Followers
from cluster.docker_host.record.records import ContainerRecord, Records
from cluster.files.discarding import discard
from cluster.files.lock_files import holding
from cluster.worker_host import HostUnavailable

_LOG_SECONDS: Final = 30.0  # guessed: to copy what is left of a log

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerTeardown:
    """Stops and removes the containers of one installation."""

    state_dir: Path
    connections: Connections
    daemons: Daemons
    inventory: Inventory
    records: Records
    networks: NetworkSweep
    followers: Followers
    stopper: Stopper
    _background: BackgroundJobs = field(default_factory=lambda: BackgroundJobs(name="tidy_up"))

    def stop(self, process_id: str, *, grace_seconds: float) -> None:
        """See the port."""
        record = self.records.of(process_id)
        if record.has_ended:
            return
        if record.is_being_prepared():
            note_wish(record, grace_seconds=grace_seconds)
        found = self._find_now(record)
        if found is not None and found.status in RUNNING:
            self.stopper.stop(found.container, found.endpoint, record, grace_seconds=grace_seconds)

    def forget(self, process_id: str) -> None:
        """See the port. It is not listed from now on."""
        record = self.records.of(process_id)
        if record.is_being_prepared():
            return
        found = self._find_now(record)
        if LifecycleStep.DROP in _look(record, found, is_forgotten=True).steps:
            _write_down(record)
            self._tidy_up(record, is_forgotten=True)

    def see_to(
        self, look: ContainerObservation, record: ContainerRecord, found: FoundContainer | None
    ) -> None:
        """Begin what is to be done next, as somebody found a process; it does not wait."""
        if found is not None and LifecycleStep.STOP in look.steps:
            self.stopper.go_on(found.container, found.endpoint, record)
        elif look.steps:
            self._tidy_up(record, is_forgotten=look.is_forgotten)

    def _tidy_up(self, record: ContainerRecord, *, is_forgotten: bool) -> None:
        """Remove it is by then: only who holds its lock can tell."""
        own, everyone = self.daemons.of(record.node), self.daemons.all()  # threads cannot ask

        def work() -> None:
            with holding(record.lock_path, seconds=0.0) as is_ours:
                if is_ours:
                    found = self.inventory.find(record.process_id, own)
                    for step in _look(record, found, is_forgotten=is_forgotten).steps:
                        self._take(step, record, found, own, everyone)

        self._background.begin(record.process_id, work)

    def _take(
        self,
        step: LifecycleStep,
        record: ContainerRecord,
        found: FoundContainer | None,
        own: tuple[DaemonEndpoint, ...],
        everyone: tuple[DaemonEndpoint, ...],
    ) -> None:
        """Take a step of a removal. Raises: HostUnavailable, OSError: later."""
        match step, found:
            case LifecycleStep.FORGET, _:
                _write_down(record)
            case LifecycleStep.DISCARD, _:
                self._discard_scratch(record, found)
            case LifecycleStep.COPY_LOG, FoundContainer():
                self._copy_log(found.source(record))
            case LifecycleStep.REMOVE, FoundContainer():
                self._remove(found)
            case LifecycleStep.DROP, _:
                for endpoint in own:
                    self.networks.sweep(endpoint, everyone)
                record.remove()

    def _discard_scratch(self, record: ContainerRecord, found: FoundContainer | None) -> None:
        """Raises: HostUnavailable, if the disk refuses: later, then."""
        known = record.observed() if found is None else found
        if known is None:
            return
        who = known.labels
        scratch = containers.scratch_folder(who.job_id, who.process_id, state_dir=self.state_dir)
        try:
            discard(scratch, aside=containers.discarded_folder(state_dir=self.state_dir))
        except OSError as problem:
            raise HostUnavailable(f"{scratch} cannot be removed: {problem}") from problem

    def _find_now(self, record: ContainerRecord) -> FoundContainer | None:
        """Ask the node of the process, which a refusal names. Raises: HostUnavailable."""
        node = record.node
        with asking_for(node):
            return self.inventory.find(record.process_id, self.daemons.of(node))

    def _copy_log(self, source: LogSource) -> None:
        self.followers.follow(source)
        if not self.followers.await_complete((source,), seconds=_LOG_SECONDS):
            name = source.labels.process_id
            raise HostUnavailable(f"The log of {name} is still being copied.")

    def _remove(self, found: FoundContainer) -> None:
        client = self.connections.patient(found.endpoint)
        with asking(found.endpoint), contextlib.suppress(docker.errors.NotFound):
            client.remove_container(found.container, v=True)
        self.stopper.forget(found.container)


def _look(
    record: ContainerRecord, found: FoundContainer | None, *, is_forgotten: bool
) -> ContainerObservation:
    """Return how it is; forgotten, too, where that could not be written down."""
    look = look_at(record, found.status if found else None)
    return replace(look, is_forgotten=is_forgotten or look.is_forgotten)


def _write_down(record: ContainerRecord) -> None:
    """That nobody wants to know of it. It goes all the same where that cannot be written down."""
    try:
        record.forget()
    except OSError as problem:  # a full disk, say
        extra = {"action": "forget", "process_id": record.process_id}
        _log.warning("A process is listed until it is removed: %s", problem, extra=extra)
