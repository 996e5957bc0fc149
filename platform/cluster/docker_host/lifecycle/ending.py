"""What becomes of a container that is not wanted any more, and of all that belongs to it?

To remove a container may take minutes, or be refused for hours. So it is only written down that a
process is forgotten; what is left of it goes in the background, begun again at each look.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import docker.errors

from cluster.docker_host.connection.connections import Connections, asking, asking_for, talking_to
from cluster.docker_host.connection.daemons import Daemons
from cluster.docker_host.connection.endpoint import Endpoint
from cluster.docker_host.container import containers, labels
from cluster.docker_host.container.observing import ENDED, RUNNING
from cluster.docker_host.lifecycle.background_jobs import BackgroundJobs
from cluster.docker_host.lifecycle.network_sweep import NetworkSweep
from cluster.docker_host.lifecycle.stopping import Stopper, note_wish
from cluster.docker_host.logs.copying import Source
from cluster.docker_host.logs.following import Followers
from cluster.docker_host.record.records import Record, Records
from cluster.files.discarding import discard
from cluster.files.lock_files import holding
from cluster.worker_host import HostUnavailable, Labels

_LOG_SECONDS: Final = 30.0  # guessed: to copy what is left of a log

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A container, where it is and what it was when somebody looked."""

    endpoint: Endpoint
    container: str  # Docker's id
    status: str
    labels: Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class _Daemons:
    """Known before work goes to the background: each thread that asks needs the database."""

    own: tuple[Endpoint, ...]  # where the process may have a container
    all: tuple[Endpoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Stops and removes the containers of one installation."""

    installation: str
    state_dir: Path
    connections: Connections
    daemons: Daemons
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
        place = self._place_now(record)
        if place is not None and place.status in RUNNING:
            self.stopper.stop(place.container, place.endpoint, record, grace_seconds=grace_seconds)

    def forget(self, process_id: str) -> None:
        """See the port. It is not listed from now on."""
        record = self.records.of(process_id)
        if record.is_being_prepared():
            return
        place = self._place_now(record)
        if place is None and not record.folder.exists():
            return
        if place is None or place.status not in RUNNING:
            _write_down(record)
            self._tidy_up(record, is_forgotten=True)

    def tidy_up(self, record: Record) -> None:
        """Remove what is left of a process that is forgotten, was never started, or is gone.

        It does not wait, and does nothing to one that runs, or ended and is not forgotten.
        """
        if not record.is_being_prepared():
            self._tidy_up(record, is_forgotten=record.is_forgotten)

    def _tidy_up(self, record: Record, *, is_forgotten: bool) -> None:
        around = _Daemons(own=self.daemons.of(record.node), all=self.daemons.all())

        def work() -> None:
            with holding(record.lock_path, seconds=0.0) as is_ours:
                if is_ours and (is_forgotten or not record.has_ended):
                    self._remove_all(record, around, is_forgotten=is_forgotten)

        self._background.begin(record.process_id, work)

    def _remove_all(self, record: Record, around: _Daemons, *, is_forgotten: bool) -> None:
        """Of a process whose lock is held. Raises: HostUnavailable, APIError, OSError: later."""
        place = self._place(record, around.own)
        if place is None:
            _write_down(record)
            self._drop(record, around)
        elif place.status == "created" or (is_forgotten and place.status not in RUNNING):
            _write_down(record)
            self._discard_scratch(place.labels)
            if place.status in ENDED:
                self._save_log(place, record)
            self._remove(place)
            self._drop(record, around, place.labels)

    def _drop(self, record: Record, around: _Daemons, who: Labels | None = None) -> None:
        """Remove what belongs to a process without a container."""
        known = record.observed()
        if who is None and known is not None:
            who = known.labels
        if who is not None:
            self._discard_scratch(who)
        for endpoint in around.own:
            self.networks.sweep(endpoint, around.all)
        record.remove()

    def _discard_scratch(self, who: Labels) -> None:
        """Raises: HostUnavailable, if the disk refuses: later, then."""
        scratch = containers.scratch_folder(who.job_id, who.process_id, state_dir=self.state_dir)
        try:
            discard(scratch, aside=containers.discarded_folder(state_dir=self.state_dir))
        except OSError as problem:
            raise HostUnavailable(f"{scratch} cannot be removed: {problem}") from problem

    def _place_now(self, record: Record) -> _Place | None:
        """As the node of the process tells, which a refusal names. Raises: HostUnavailable."""
        node = record.node
        with asking_for(node):
            return self._place(record, self.daemons.of(node))

    def _place(self, record: Record, daemons: Iterable[Endpoint]) -> _Place | None:
        """Which container it has, on which of these.

        Raises:
            HostUnavailable: on none of those that answer, and not all do.
        """
        silence: HostUnavailable | None = None
        for endpoint in daemons:
            try:
                place = self._place_on(endpoint, record)
            except HostUnavailable as problem:
                silence = problem
            else:
                if place is not None:
                    return place
        if silence is not None:
            raise silence
        return None

    def _place_on(self, endpoint: Endpoint, record: Record) -> _Place | None:
        wanted = {"label": labels.of_one_process(self.installation, record.process_id)}
        with asking(endpoint):
            rows = self.connections.quick(endpoint).containers(all=True, filters=wanted)
        for row in rows:
            who = labels.read(row["Labels"])
            if who is not None and who.process_id == record.process_id:
                return _Place(
                    endpoint=endpoint, container=row["Id"], status=row["State"], labels=who
                )
        return None

    def _save_log(self, place: _Place, record: Record) -> None:
        source = Source(
            container=place.container,
            labels=place.labels,
            endpoint=place.endpoint,
            record=record,
        )
        self.followers.follow(source)
        if not self.followers.await_complete((source,), seconds=_LOG_SECONDS):
            raise HostUnavailable(f"The log of {record.process_id} is still being copied.")

    def _remove(self, place: _Place) -> None:
        client = self.connections.patient(place.endpoint)
        with talking_to(place.endpoint), contextlib.suppress(docker.errors.NotFound):
            client.remove_container(place.container, v=True)
        self.stopper.forget(place.container)


def _write_down(record: Record) -> None:
    """That nobody wants to know of it. It goes all the same where that cannot be written down."""
    try:
        record.forget()
    except OSError as problem:  # a full disk, say
        extra = {"action": "forget", "process_id": record.process_id}
        _log.warning("A process is listed until it is removed: %s", problem, extra=extra)
