"""How is a launch brought to run? In a thread of its own, because images may be far away.

The thread holds the lock of the process's record. What time may heal is tried again until somebody
asks the process to end; what it will not is written down as the process's ending.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Final

import docker.errors

from autoscaler.backoff import Backoff
from cluster.background.background_jobs import BackgroundJobs
from cluster.docker_host.connection.connections import words
from cluster.docker_host.connection.endpoint import ContainerPlace
from cluster.docker_host.container.images import ImageUnavailable, RegistryTrouble
from cluster.docker_host.lifecycle.making import AskedToEnd, ContainerRefused, Maker, check_wanted
from cluster.docker_host.lifecycle.retry_budget import RetryBudget
from cluster.docker_host.lifecycle.steps import LifecycleStep, look_at
from cluster.docker_host.record.records import ContainerRecord, Records
from cluster.files.lock_files import holding
from cluster.worker_host import Failing, HostUnavailable, Launch

_LOCK_SECONDS: Final = 1.0  # somebody only looks at it for an instant
_BETWEEN_ATTEMPTS: Final = Backoff(first_seconds=0.5, longest_seconds=30.0)
_POLL_SECONDS: Final = 0.1

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """Starts the containers of one installation."""

    records: Records
    maker: Maker
    registry_patience_seconds: float
    daemon_patience_seconds: float
    changed: Callable[[], None]  # called when a preparation is over
    _background: BackgroundJobs = field(
        default_factory=lambda: BackgroundJobs(name="start_container")
    )

    def begin(self, launch: Launch, place: ContainerPlace) -> threading.Event:
        """Have it started; the event comes when it runs, never will, or takes longer.

        Longer than an instant, that is: its image has to be fetched, or something is tried again.
        """
        is_settled = threading.Event()
        work = partial(self._run, launch, place, is_settled)
        if not self._background.begin(launch.labels.process_id, work):
            is_settled.set()
        return is_settled

    def _run(self, launch: Launch, place: ContainerPlace, is_settled: threading.Event) -> None:
        record = self.records.of(launch.labels.process_id)
        try:
            with holding(record.lock_path, seconds=_LOCK_SECONDS) as is_ours:
                if (
                    is_ours
                    and LifecycleStep.MAKE in replace(look_at(record), is_launched=True).steps
                ):
                    record.begin(launch.labels, launch.node)
                    self._prepare(launch, place, record, is_settled)
                else:
                    extra = {"action": "start_later", "process_id": record.process_id}
                    _log.info("It is being started, or one of its name removed.", extra=extra)
        except Exception:  # noqa: BLE001 - it is missing then, and started again
            extra = {"action": "start_container", "process_id": record.process_id}
            _log.exception("Starting a container failed.", extra=extra)
        finally:
            is_settled.set()
            self.changed()

    def _prepare(
        self,
        launch: Launch,
        place: ContainerPlace,
        record: ContainerRecord,
        is_settled: threading.Event,
    ) -> None:
        def tell(note: str) -> None:
            check_wanted(record)
            record.tell(note)
            is_settled.set()

        try:
            self._try_until_it_runs(launch, place, record, tell)
        except AskedToEnd:
            record.end(exit_code=-int(signal.SIGTERM))
        except ImageUnavailable as refusal:
            record.end(failing=Failing.IMAGE_UNAVAILABLE, note=str(refusal))
        except ContainerRefused as refusal:
            record.end(failing=Failing.CANNOT_START, note=str(refusal))

    def _try_until_it_runs(
        self,
        launch: Launch,
        place: ContainerPlace,
        record: ContainerRecord,
        tell: Callable[[str], None],
    ) -> None:
        registry_budget = RetryBudget(seconds=self.registry_patience_seconds)
        fresh_budget = partial(RetryBudget, seconds=self.daemon_patience_seconds)
        daemon_budget = fresh_budget()
        for attempt in count(1):
            try:
                self.maker.attempt(launch, place, record, registry_budget.hearing(tell))
            except RegistryTrouble as problem:
                if registry_budget.is_over():
                    raise ImageUnavailable(str(problem)) from problem
                tell(f"{problem}; trying again")
                daemon_budget = fresh_budget()
            except HostUnavailable as problem:
                tell(f"{problem}; trying again")
                daemon_budget = fresh_budget()  # what it says when it is back is new
            except docker.errors.APIError as refusal:
                if daemon_budget.is_over():
                    raise ContainerRefused(words(refusal)) from refusal
                tell(f"{words(refusal)}; trying again")
                self.maker.connections.forget(place.endpoint)  # it may have become a newer one
            else:
                return
            _pause(_BETWEEN_ATTEMPTS.seconds_after(attempt), record)


def _pause(seconds: float, record: ContainerRecord) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        check_wanted(record)
        time.sleep(_POLL_SECONDS)
