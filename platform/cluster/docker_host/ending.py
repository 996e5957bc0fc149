"""What becomes of a container that is not wanted any more, and of all that belongs to it?"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import docker.errors

from cluster.docker_host import containers, labels
from cluster.docker_host.adoption import Adoption
from cluster.docker_host.connections import Connections, talking_to
from cluster.docker_host.daemons import Daemons
from cluster.docker_host.discarding import discard
from cluster.docker_host.endpoint import Endpoint
from cluster.docker_host.log_following import Followers, Source
from cluster.docker_host.networks import Networks
from cluster.docker_host.observing import ENDED, RUNNING
from cluster.docker_host.records import Record, Records, holding
from cluster.docker_host.stopping import Stopper, note_wish
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
class Ending:
    """Stops and removes the containers of one installation."""

    installation: str
    state_dir: Path
    connections: Connections
    daemons: Daemons
    records: Records
    networks: Networks
    followers: Followers
    stopper: Stopper
    adoption: Adoption

    def stop(self, process_id: str, *, grace_seconds: float) -> None:
        """See the port."""
        record = self.records.of(process_id)
        if record.ending_path.exists():
            return
        if record.is_being_prepared():
            note_wish(record, grace_seconds=grace_seconds)
        place = self._place(record)
        if place is not None and place.status in RUNNING:
            self.stopper.stop(place.container, place.endpoint, record, grace_seconds=grace_seconds)

    def forget(self, process_id: str) -> None:
        """See the port."""
        record = self.records.of(process_id)
        if record.is_being_prepared():
            return
        place = self._place(record)
        if place is None:
            self._drop(record)
            return
        if place.status in RUNNING:
            return
        self._discard_scratch(place.labels)
        if place.status in ENDED:
            self._save_log(place, record)
        self._remove(place)
        self._drop(record, place.labels)

    def remove_leftover(self, record: Record) -> None:
        """Remove what somebody began to start and never finished, or who removed its container."""
        try:
            with holding(record.lock_path, seconds=0.0) as is_ours:
                if is_ours and not record.ending_path.exists():
                    self._remove_leftover(record)
        except (HostUnavailable, docker.errors.APIError, OSError) as problem:
            extra = {"action": "remove_leftover", "process_id": record.process_id}
            _log.warning("A leftover is removed later: %s", problem, extra=extra)

    def _remove_leftover(self, record: Record) -> None:
        self.adoption.clear(record, self.daemons.of(record.node))
        place = self._place(record)
        if place is None:
            self._drop(record)
            return
        if place.status == "created":
            self._remove(place)
            self._drop(record, place.labels)

    def _drop(self, record: Record, who: Labels | None = None) -> None:
        """Remove what belongs to a process without a container."""
        known = record.observed()
        if who is None and known is not None:
            who = known.labels
        if who is not None:
            if not self.adoption.has_others(record, who.job_id):
                for endpoint in self.daemons.of(record.node):
                    self.networks.remove_if_unused(who.job_id, endpoint, self.daemons.all())
            self._discard_scratch(who)
        record.remove()

    def _discard_scratch(self, who: Labels) -> None:
        """Raises: HostUnavailable, if the disk refuses: later, then."""
        scratch = containers.scratch_folder(who.job_id, who.process_id, state_dir=self.state_dir)
        try:
            discard(scratch, aside=containers.discarded_folder(state_dir=self.state_dir))
        except OSError as problem:
            raise HostUnavailable(f"{scratch} cannot be removed: {problem}") from problem

    def _place(self, record: Record) -> _Place | None:
        """Which container it has, on which daemon. Raises: HostUnavailable."""
        wanted = {"label": self.adoption.filter(record)}
        for endpoint in self.daemons.of(record.node):
            with talking_to(endpoint):
                rows = self.connections.quick(endpoint).containers(all=True, filters=wanted)
            for row in rows:
                who = labels.read(self.adoption.labels(row["Labels"], row["Names"][0]))
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
