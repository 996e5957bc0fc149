"""How does a launch become a container? In a thread of its own, because images may be far away.

The thread holds the lock of the process's record. What time may heal is tried again until somebody
asks the process to end; what it will not is written down as the process's ending.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import docker.errors

from cluster.docker_host import containers
from cluster.docker_host.adoption import Adoption
from cluster.docker_host.blueprints import Blueprints
from cluster.docker_host.connections import Client, Connections, talking_to, words
from cluster.docker_host.endpoint import Place
from cluster.docker_host.images import Images, ImageUnavailable, RegistryTrouble
from cluster.docker_host.lock_files import holding
from cluster.docker_host.log_following import Followers, Source
from cluster.docker_host.networks import Networks
from cluster.docker_host.node_memory import NodeMemory
from cluster.docker_host.patience import Patience
from cluster.docker_host.records import Record, Records
from cluster.docker_host.taking_over import TakingOver
from cluster.worker_host import Failing, HostUnavailable, Launch, Role

_LOCK_SECONDS: Final = 1.0  # somebody only looks at it for an instant
_ATTEMPTS: Final = 3  # guessed: of a daemon that refuses to start a container
_FIRST_PAUSE_SECONDS: Final = 0.5
_LONGEST_PAUSE_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.1

_log: Final = logging.getLogger(__name__)


class _CannotStart(Exception):
    """The daemon refuses this container; the message is in its words."""


class _AskedToEnd(Exception):
    """Somebody stopped the process before it ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """Starts the containers of one installation."""

    blueprints: Blueprints
    connections: Connections
    records: Records
    images: Images
    networks: Networks
    memory: NodeMemory
    followers: Followers
    registry_patience_seconds: float
    adoption: Adoption
    taking_over: TakingOver
    changed: Callable[[], None]  # called when a preparation is over

    def begin(self, launch: Launch, place: Place) -> threading.Event:
        """Have it started; the event comes when it runs, never will, or takes longer.

        Longer than an instant, that is: its image has to be fetched, or something is tried again.
        """
        is_settled = threading.Event()
        threading.Thread(
            target=self._run,
            args=(launch, place, is_settled),
            name=f"start-{launch.labels.process_id}",
            daemon=True,
        ).start()
        return is_settled

    def _run(self, launch: Launch, place: Place, is_settled: threading.Event) -> None:
        record = self.records.of(launch.labels.process_id)
        try:
            with holding(record.lock_path, seconds=_LOCK_SECONDS) as is_ours:
                if is_ours and not record.ending_path.exists() and not record.is_forgotten:
                    record.begin(launch.labels, launch.node)
                    self._prepare(launch, place, record, is_settled)
        except Exception:  # noqa: BLE001 - it is missing then, and started again
            extra = {"action": "start_container", "process_id": record.process_id}
            _log.exception("Starting a container failed.", extra=extra)
        finally:
            is_settled.set()
            self.changed()

    def _prepare(
        self, launch: Launch, place: Place, record: Record, is_settled: threading.Event
    ) -> None:
        def tell(note: str) -> None:
            _check_wanted(record)
            record.tell(note)
            is_settled.set()

        try:
            self._try_until_it_runs(launch, place, record, tell)
        except _AskedToEnd:
            record.end(exit_code=-int(signal.SIGTERM))
        except ImageUnavailable as refusal:
            record.end(failing=Failing.IMAGE_UNAVAILABLE, note=str(refusal))
        except _CannotStart as refusal:
            record.end(failing=Failing.CANNOT_START, note=str(refusal))

    def _try_until_it_runs(
        self, launch: Launch, place: Place, record: Record, tell: Callable[[str], None]
    ) -> None:
        pause_seconds, refusals = _FIRST_PAUSE_SECONDS, 0
        patience = Patience(seconds=self.registry_patience_seconds)
        while True:
            try:
                self._attempt(launch, place, record, patience.hearing(tell))
            except RegistryTrouble as problem:
                if patience.is_over():
                    raise ImageUnavailable(str(problem)) from problem
                tell(f"{problem}; trying again")
            except HostUnavailable as problem:
                tell(f"{problem}; trying again")
            except docker.errors.APIError as refusal:
                refusals += 1
                if refusals >= _ATTEMPTS or refusal.status_code == HTTPStatus.BAD_REQUEST:
                    raise _CannotStart(words(refusal)) from refusal
            else:
                return
            _pause(pause_seconds, record)
            pause_seconds = min(2 * pause_seconds, _LONGEST_PAUSE_SECONDS)

    def _attempt(
        self, launch: Launch, place: Place, record: Record, tell: Callable[[str], None]
    ) -> None:
        client = self.connections.patient(place.endpoint)
        with talking_to(place.endpoint):
            self.adoption.clear(record, (place.endpoint,))
            status = self._status(client, record.process_id)
            if status is None:
                self._fetch(launch, place, record, tell)
                launch = self.memory.bounded(launch, place.endpoint)
                if not self.taking_over.attempt(launch, place, record):
                    self._create(client, launch, place, record)
                    self._start(client, launch, place, record)
            elif status == "created":
                self._start(client, launch, place, record)
            else:
                return
            self._follow(client, launch, place, record)

    def _fetch(
        self, launch: Launch, place: Place, record: Record, tell: Callable[[str], None]
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
            _check_wanted(record)
        fetched.result()
        _check_wanted(record)

    def _status(self, client: Client, process_id: str) -> str | None:
        try:
            return str(
                client.inspect_container(self.blueprints.name(process_id))["State"]["Status"]
            )
        except docker.errors.NotFound:
            return None

    def _create(self, client: Client, launch: Launch, place: Place, record: Record) -> None:
        network = self.networks.of_job(launch.labels.job_id, place.endpoint, place.daemons)
        config = self.blueprints.of_launch(launch, run_dir=record.run_dir, network=network)
        volumes = self.images.volumes(config["Image"], place.endpoint)
        config = containers.over_volumes(config, volumes)
        try:
            client.create_container_from_config(config, self.blueprints.name(record.process_id))
        except docker.errors.APIError as problem:
            if problem.status_code != HTTPStatus.CONFLICT:
                raise

    def _start(self, client: Client, launch: Launch, place: Place, record: Record) -> None:
        """What is not started leaves nothing behind: the next attempt makes it anew.

        Which networks it has is not known if an earlier attempt made it; to connect it twice to
        one, before it runs, is as good as once.
        """
        name = self.blueprints.name(launch.labels.process_id)
        try:
            if launch.labels.role is Role.COORDINATOR:
                second = self.networks.of_coordinators(place.endpoint)
                client.connect_container_to_network(name, second)
            _check_wanted(record)
            client.start(name)
        except (docker.errors.APIError, _AskedToEnd):
            with contextlib.suppress(docker.errors.NotFound):
                client.remove_container(name, force=True, v=True)
            raise

    def _follow(self, client: Client, launch: Launch, place: Place, record: Record) -> None:
        """Its first lines are shown before anybody lists it."""
        container = client.inspect_container(self.blueprints.name(record.process_id))["Id"]
        self.followers.follow(
            Source(
                container=container, labels=launch.labels, endpoint=place.endpoint, record=record
            )
        )


def _now_and_then(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Passes on what is new, a few times a second."""
    last = ""
    quiet_until = 0.0

    def told(note: str) -> None:
        nonlocal last, quiet_until
        if note != last and time.monotonic() >= quiet_until:
            tell(note)
            last, quiet_until = note, time.monotonic() + _POLL_SECONDS

    return told


def _check_wanted(record: Record) -> None:
    if record.stop_path.exists():
        raise _AskedToEnd


def _pause(seconds: float, record: Record) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        _check_wanted(record)
        time.sleep(_POLL_SECONDS)
