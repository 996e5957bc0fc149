"""How is each process now? Put together from containers and records; what is left over goes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, TypeAlias

from cluster.docker_host.connection.daemons import Daemons
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container.observing import ENDED, RUNNING
from cluster.docker_host.lifecycle.ending import ContainerTeardown
from cluster.docker_host.lifecycle.inventory import FoundContainer, Inventory
from cluster.docker_host.lifecycle.network_sweep import NetworkSweep
from cluster.docker_host.lifecycle.steps import ContainerObservation, look_at
from cluster.docker_host.logs.following import Followers
from cluster.docker_host.logs.slow_refill import SlowRefill
from cluster.docker_host.record.records import ContainerRecord, Records
from cluster.worker_host import HostUnavailable, ProcessListing

_LOG_SECONDS: Final = 2.0  # guessed: who hears that a process ended finds its last lines

_log: Final = logging.getLogger(__name__)

_Seen: TypeAlias = tuple[ContainerRecord, ContainerObservation, FoundContainer | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lister:
    """Tells how things are, and puts right what dead service processes and daemons left undone."""

    inventory: Inventory
    daemons: Daemons
    records: Records
    followers: Followers
    ending: ContainerTeardown
    networks: NetworkSweep
    _awaited: set[str] = field(default_factory=set)  # ended containers; for each once
    _patience: SlowRefill = field(default_factory=SlowRefill)

    def list(self) -> ProcessListing:
        """See the port. Records are read first: what goes meanwhile is not listed once more."""
        before = {record: self._look_before(record) for record in self.records.all()}
        answers = self.inventory.look()
        found = {
            one: self.records.of(one.labels.process_id)
            for one in chain.from_iterable(answers.by_endpoint.values())
        }
        seen: list[_Seen] = [
            (record, replace(before.get(record, ContainerObservation()), status=one.status), one)
            for one, record in found.items()
        ]
        self._copy_logs(seen)
        for record in found.values():
            before.pop(record, None)
        seen += self._alone_now(before, set(answers.by_endpoint))
        processes = []
        for record, look, one in seen:
            with _left_for_later(record):
                if look.is_listed:
                    processes.append((one and one.process) or record.observed())
                self.ending.see_to(look, record, one)
        self.networks.now_and_then(answers.by_endpoint, self.daemons.all())
        return ProcessListing(
            processes=tuple(filter(None, processes)), silent_nodes=answers.silent_nodes
        )

    def _look_before(self, record: ContainerRecord) -> ContainerObservation:
        with _left_for_later(record):
            return replace(look_at(record), is_held=record.is_being_prepared())
        return ContainerObservation(is_held=True)  # one that cannot be read is left alone

    def _alone_now(
        self, before: Mapping[ContainerRecord, ContainerObservation], answering: set[DaemonEndpoint]
    ) -> Iterator[_Seen]:
        """Yield records of which no container is known, where all answer that could have one.

        Whoever let go of one while Docker was asked may have made its container since.
        """
        for record, look in before.items():
            with _left_for_later(record):
                if answering.issuperset(self.daemons.of(record.node)):
                    is_held = look.is_held or record.is_being_prepared()
                    now = replace(look, is_held=is_held, has_record=record.folder.exists())
                    yield record, now, None

    def _copy_logs(self, seen: Iterable[_Seen]) -> None:
        """Copy logs of all that run, and of those that ended to the end; a look may wait for it."""
        sources = {
            one: one.source(record)
            for record, look, one in seen
            if one and look.is_listed and one.status in RUNNING | ENDED
        }
        for source in sources.values():
            self.followers.follow(source)
        ended = {one.container: source for one, source in sources.items() if one.status in ENDED}
        news = [source for container, source in ended.items() if container not in self._awaited]
        if news:
            seconds = self._patience.left(_LOG_SECONDS)
            self._patience.spend(lambda: self.followers.await_complete(news, seconds=seconds))
        self._awaited.intersection_update(ended)
        self._awaited.update(ended)


@contextmanager
def _left_for_later(record: ContainerRecord) -> Iterator[None]:
    """A record that cannot be read, removed or asked about must not hide all other processes."""
    try:
        yield
    except (HostUnavailable, OSError, ValueError, KeyError) as problem:
        extra = {"action": "list", "process_id": record.process_id}
        _log.warning("A record is left for later: %r", problem, extra=extra)
