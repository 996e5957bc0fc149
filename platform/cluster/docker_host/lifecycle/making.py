"""How does a launch become a container that runs? One attempt; whoever makes it may try again.

What an earlier attempt made is not made again, be it by a service process that died meanwhile.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import docker.errors

from cluster.docker_host.connection.connections import Client, Connections, talking_to, words
from cluster.docker_host.connection.endpoint import ContainerPlace
from cluster.docker_host.container import containers
from cluster.docker_host.container.blueprints import Blueprints
from cluster.docker_host.container.images import Images
from cluster.docker_host.container.networks import Networks
from cluster.docker_host.container.node_memory import NodeMemory
from cluster.docker_host.lifecycle.steps import ContainerObservation, LifecycleStep
from cluster.docker_host.logs.copying import LogSource
from cluster.docker_host.logs.following import Followers
from cluster.docker_host.record.records import ContainerRecord
from cluster.worker_host import Launch, ProcessRole

_POLL_SECONDS: Final = 0.1


class AskedToEnd(Exception):
    """Somebody stopped the process before it ran."""


class ContainerRefused(Exception):
    """The daemon finds something wrong with this very container; the message is in its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Makes the containers of one installation."""

    blueprints: Blueprints
    connections: Connections
    images: Images
    networks: Networks
    memory: NodeMemory
    followers: Followers

    def attempt(
        self,
        launch: Launch,
        place: ContainerPlace,
        record: ContainerRecord,
        tell: Callable[[str], None],
    ) -> None:
        """Have it run. The record's lock is held; `tell` hears how far its image is.

        Raises:
            AskedToEnd: somebody stopped it; no container of it is left.
            ImageUnavailable, ContainerRefused: it never will.
            RegistryTrouble, HostUnavailable, docker.errors.APIError: perhaps the next time.
        """
        client = self.connections.patient(place.endpoint)
        with talking_to(place.endpoint):
            now = ContainerObservation(
                status=self._status(client, record.process_id), is_launched=True
            )
            if LifecycleStep.MAKE in now.steps:
                self._fetch(launch, place, record, tell)
                launch = self.memory.bounded(launch, place.endpoint)
                self._create(client, launch, place, record)
            if LifecycleStep.START in now.steps:
                self._start(client, launch, place, record)
                self._follow(client, launch, place, record)

    def _fetch(
        self,
        launch: Launch,
        place: ContainerPlace,
        record: ContainerRecord,
        tell: Callable[[str], None],
    ) -> None:
        """Nobody waits for an image that is not wanted any more; the daemon may finish it."""
        fetched: Future[None] = Future()

        def fetch() -> None:
            try:
                self.images.fetch(
                    self.blueprints.image(launch),
                    place.endpoint,
                    logins=launch.registry_logins,
                    tell=_now_and_then(tell),
                )
            except Exception as problem:  # noqa: BLE001 - raised where it is waited for
                fetched.set_exception(problem)
            else:
                fetched.set_result(None)

        threading.Thread(target=fetch, name=f"fetch-{record.process_id}", daemon=True).start()
        while not wait((fetched,), timeout=_POLL_SECONDS).done:
            check_wanted(record)
        fetched.result()
        check_wanted(record)

    def _status(self, client: Client, process_id: str) -> str | None:
        try:
            return str(
                client.inspect_container(self.blueprints.name(process_id))["State"]["Status"]
            )
        except docker.errors.NotFound:
            return None

    def _create(
        self, client: Client, launch: Launch, place: ContainerPlace, record: ContainerRecord
    ) -> None:
        network = self.networks.of_job(launch, place.endpoint, place.daemons)
        config = self.blueprints.of_launch(launch, run_dir=record.run_dir, network=network)
        volumes = self.images.volumes(config["Image"], place.endpoint)
        config = containers.over_volumes(config, volumes)
        try:
            with _final_if_wrong():
                client.create_container_from_config(config, self.blueprints.name(record.process_id))
        except docker.errors.APIError as problem:
            if problem.status_code != HTTPStatus.CONFLICT:
                raise

    def _start(
        self, client: Client, launch: Launch, place: ContainerPlace, record: ContainerRecord
    ) -> None:
        """Start it; what is not started leaves nothing behind: the next attempt makes it anew.

        Which networks it has is not known if an earlier attempt made it; to connect it twice to
        one, before it runs, is as good as once.
        """
        name = self.blueprints.name(launch.labels.process_id)
        try:
            if launch.labels.role is ProcessRole.COORDINATOR:
                for network in self.networks.of_coordinator(launch, place.endpoint):
                    client.connect_container_to_network(name, network)
            check_wanted(record)
            with _final_if_wrong():
                client.start(name)
        except (docker.errors.APIError, ContainerRefused, AskedToEnd):
            with contextlib.suppress(docker.errors.NotFound):
                client.remove_container(name, force=True, v=True)
            raise

    def _follow(
        self, client: Client, launch: Launch, place: ContainerPlace, record: ContainerRecord
    ) -> None:
        """Its first lines are shown before anybody lists it."""
        container = client.inspect_container(self.blueprints.name(record.process_id))["Id"]
        self.followers.follow(
            LogSource(
                container=container, labels=launch.labels, endpoint=place.endpoint, record=record
            )
        )


@contextlib.contextmanager
def _final_if_wrong() -> Iterator[None]:
    """Only here: to other questions a daemon says 400 as well when it has no address left."""
    try:
        yield
    except docker.errors.APIError as refusal:
        if refusal.status_code == HTTPStatus.BAD_REQUEST:
            raise ContainerRefused(words(refusal)) from refusal
        raise


def check_wanted(record: ContainerRecord) -> None:
    """Raises: AskedToEnd."""
    if record.stop_path.exists():
        raise AskedToEnd


def _now_and_then(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Passes on what is new, a few times a second."""
    last = ""
    quiet_until = 0.0

    def note_down(note: str) -> None:
        nonlocal last, quiet_until
        if note != last and time.monotonic() >= quiet_until:
            tell(note)
            last, quiet_until = note, time.monotonic() + _POLL_SECONDS

    return note_down
