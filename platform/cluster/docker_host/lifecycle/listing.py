"""How is each process now? Put together from containers and records; what is left over goes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from cluster.docker_host.connection.daemons import Daemons
from cluster.docker_host.connection.endpoint import Endpoint
from cluster.docker_host.container.observing import ENDED, RUNNING
from cluster.docker_host.lifecycle.ending import Ending
from cluster.docker_host.lifecycle.inventory import Found, Inventory
from cluster.docker_host.lifecycle.network_sweep import NetworkSweep
from cluster.docker_host.lifecycle.slow_refill import SlowRefill
from cluster.docker_host.lifecycle.stopping import Stopper
from cluster.docker_host.logs.copying import Source
from cluster.docker_host.logs.following import Followers
from cluster.docker_host.record.records import Record, Records
from cluster.worker_host import HostUnavailable, Listing, ObservedProcess

_LOG_SECONDS: Final = 2.0  # guessed: who hears that a process ended finds its last lines

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lister:
    """Tells how things are, and puts right what dead service processes and daemons left undone."""

    inventory: Inventory
    daemons: Daemons
    records: Records
    followers: Followers
    stopper: Stopper
    ending: Ending
    networks: NetworkSweep
    _awaited: set[str] = field(default_factory=set)  # ended containers; for each once
    _patience: SlowRefill = field(default_factory=SlowRefill)

    def list(self) -> Listing:
        """See the port."""
        records = [(record, _is_being_prepared(record)) for record in self.records.all()]
        forgotten = {record.process_id for record, _ in records if record.is_forgotten}
        answers = self.inventory.look()
        found = tuple(chain.from_iterable(answers.by_endpoint.values()))
        listed = [
            one for one in found if one.status in RUNNING or one.labels.process_id not in forgotten
        ]
        self._copy_logs(listed)
        for one in found:
            with _left_for_later(one.labels.process_id):
                self._see_to(one)
        self.networks.now_and_then(answers.by_endpoint, self.daemons.all())
        here = {one.labels.process_id for one in found if one.process}
        running = [one.process for one in listed if one.process is not None]
        rest = self._without_container(
            ((record, was) for record, was in records if record.process_id not in here),
            answers.by_endpoint,
        )
        unforgotten = [one for one in rest if one.labels.process_id not in forgotten]
        return Listing(processes=(*running, *unforgotten), silent_nodes=answers.silent_nodes)

    def _without_container(
        self, records: Iterable[tuple[Record, bool]], answering: Iterable[Endpoint]
    ) -> Iterator[ObservedProcess]:
        answering = set(answering)
        for record, was_being_prepared in records:
            process = None
            with _left_for_later(record.process_id):
                if answering.issuperset(self.daemons.of(record.node)):
                    process = self._of_record(record, was_being_prepared=was_being_prepared)
            if process is not None:
                yield process

    def _of_record(self, record: Record, *, was_being_prepared: bool) -> ObservedProcess | None:
        process = None if record.is_forgotten else record.observed()
        if process and (process.ended_at or was_being_prepared or record.is_being_prepared()):
            return process
        if record.folder.exists():
            self.ending.tidy_up(record)
        return None

    def _copy_logs(self, found: Iterable[Found]) -> None:
        """Of all that run; of those that ended, to the end, for which a look may wait a moment."""
        sources = {one: self._source(one) for one in found if one.status in RUNNING | ENDED}
        for source in sources.values():
            self.followers.follow(source)
        ended = {one.container: source for one, source in sources.items() if one.status in ENDED}
        news = [source for container, source in ended.items() if container not in self._awaited]
        if news:
            seconds = self._patience.left(_LOG_SECONDS)
            self._patience.spend(lambda: self.followers.await_complete(news, seconds=seconds))
        self._awaited.intersection_update(ended)
        self._awaited.update(ended)

    def _see_to(self, one: Found) -> None:
        record = self.records.of(one.labels.process_id)
        if one.status in RUNNING:
            self.stopper.go_on(one.container, one.endpoint, record)
        elif one.status == "created" or record.is_forgotten:
            self.ending.tidy_up(record)

    def _source(self, one: Found) -> Source:
        return Source(
            container=one.container,
            labels=one.labels,
            endpoint=one.endpoint,
            record=self.records.of(one.labels.process_id),
        )


def _is_being_prepared(record: Record) -> bool:
    with _left_for_later(record.process_id):
        return record.is_being_prepared()
    return False


@contextmanager
def _left_for_later(process_id: str) -> Iterator[None]:
    """A record that cannot be read, removed or asked about must not hide all other processes."""
    try:
        yield
    except (HostUnavailable, OSError, ValueError, KeyError) as problem:
        extra = {"action": "list", "process_id": process_id}
        _log.warning("A record is left for later: %r", problem, extra=extra)
