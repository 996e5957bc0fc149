"""The worker host for a machine without containers: the port of `cluster.worker_host`.

All state is in `<state folder>/processes/`, so any number of service processes may use the same
host at once, and a new one finds everything that is there.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import sysconfig
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from cluster.background.polled_events import polled
from cluster.logs import log_store
from cluster.logs.log_files import USUAL, LogBounds
from cluster.process_host import launch_document
from cluster.process_host.commands.zygotes import Zygotes, version_of
from cluster.process_host.gauge import ProcessGauge
from cluster.process_host.record import identity, leftovers, records
from cluster.process_host.shells.entrance import MachineEntrance
from cluster.process_host.starting import start_supervisors
from cluster.process_host.users import folders
from cluster.shells.entrance import WorkerEntrance
from cluster.usage.readings import NodeGauge
from cluster.worker_host import (
    Labels,
    Launch,
    LaunchRefused,
    LogLine,
    NodeImage,
    ObservedProcess,
    ProcessListing,
    ProcessPhase,
    ProcessRole,
)
from concertina_worker import protocol

_SEE_OFF_SECONDS: Final = 2.0  # for a killed process to be gone; takes milliseconds


@dataclass(frozen=True, kw_only=True)
class ProcessHost:
    """Runs processes under supervisors that outlive the service; Linux only."""

    state_dir: Path
    log_bounds: LogBounds = USUAL
    python_folders: tuple[Path, ...] = ()  # of the jobs' interpreter, for teams' users; empty: ours
    hidden_folders: tuple[Path, ...] = ()  # from teams' users, even where they are open to all
    warm_modules: tuple[str, ...] = ("concertina_worker.imports",)  # what training scripts import
    warm_after_seconds: float = 5.0  # guessed: a launch that found no zygote imports the same now

    def start(self, *launches: Launch) -> None:
        """See the port. CPU limits are not enforced here; memory limits bound data segments."""
        if not all(launch.command for launch in launches):
            raise LaunchRefused("The command is empty.")
        folders.close(self.state_dir)
        folders.make_private(self.state_dir / "logs")
        written = [(self._write_down(launch), launch.labels) for launch in launches]
        starts = [(record, labels) for record, labels in written if not record.was_started]
        start_supervisors(starts, self.zygotes)

    def stop(self, process_id: str, *, grace_seconds: float) -> None:
        record = self._record(process_id)
        if record.exit_path.exists():
            return
        supervisor = _supervisor(record) or self._unrecorded_supervisor(process_id)
        if record.launch_path.exists():
            try:
                records.replace(record.stop_path, {"grace_seconds": grace_seconds})
            except OSError:  # a full disk: its supervisor then takes a grace period of its own
                if supervisor is None:
                    raise
        if supervisor is not None:
            supervisor.signal(signal.SIGTERM)

    def forget(self, process_id: str) -> None:
        record = self._record(process_id)
        supervisor = _supervisor(record)
        if supervisor is not None and supervisor.is_alive():
            if not record.exit_path.exists():
                return
            _see_off(supervisor)
        shutil.rmtree(record.folder, ignore_errors=True)

    def list(self) -> ProcessListing:
        """See the port. No node is silent: this machine answers."""
        recorded = [
            observed
            for folder in self._record_folders()
            if (observed := _observe(records.CommandRecord(folder=folder))) is not None
        ]
        supervisors = leftovers.supervisors(self._folder)  # after: what was forgotten is gone
        known = {process.labels.process_id for process in recorded}
        lost = [
            _unrecorded(found)
            for process_id, found in supervisors.items()
            if process_id not in known
        ]
        return ProcessListing(processes=(*recorded, *lost))

    @property
    def survey(self) -> None:
        """Nobody: its GPUs are known by their numbers, and admins write down more if they wish."""
        return None

    @property
    def entrance(self) -> WorkerEntrance:
        """See the port."""
        return MachineEntrance(record_of=self._record)

    @property
    def roster_keeper(self) -> None:
        """Nobody: its nodes are those that admins add."""
        return None

    @cached_property
    def gauge(self) -> NodeGauge:
        """See the port."""
        return ProcessGauge(folder=self._folder)

    def fetch_ahead(self, *wanted: NodeImage) -> Mapping[NodeImage, str]:  # noqa: ARG002
        """Nothing: a process has no image."""
        return {}

    def events(self, *, poll_seconds: float) -> Iterator[ObservedProcess]:
        return polled(self.list, poll_seconds=poll_seconds)

    def logs(
        self,
        process_ids: tuple[str, ...],
        *,
        job_id: str,
        tail: int | None = None,
    ) -> Iterator[LogLine]:
        return log_store.read_processes(
            process_ids, job_id=job_id, state_dir=self.state_dir, tail=tail
        )

    @property
    def zygotes(self) -> Zygotes:
        """What makes starting plain Python commands quick."""
        folder = self.state_dir / "zygotes"
        return Zygotes(
            folder=folder,
            marks=self._folder,
            modules=self.warm_modules,
            version=version_of(Path(protocol.__file__).parent, _installed()),
            after_seconds=self.warm_after_seconds,
        )

    @property
    def _folder(self) -> Path:
        return self.state_dir / "processes"

    def _record(self, process_id: str) -> records.CommandRecord:
        if not process_id or "/" in process_id or process_id.startswith("."):
            raise LaunchRefused(f"{process_id!r} cannot name a process.")
        return records.CommandRecord(folder=self._folder / process_id)

    def _write_down(self, launch: Launch) -> records.CommandRecord:
        record = self._record(launch.labels.process_id)
        folders.make_private(record.folder)
        document = launch_document.of(
            launch,
            record=record,
            state_dir=self.state_dir,
            log_bounds=self.log_bounds,
            python_folders=self.python_folders,
            hidden_folders=self.hidden_folders,
        )
        records.create_once(record.launch_path, document)
        return record

    def _unrecorded_supervisor(self, process_id: str) -> identity.ProcessIdentity | None:
        found = leftovers.supervisors(self._folder).get(process_id)
        return None if found is None else found.identity

    def _record_folders(self) -> tuple[Path, ...]:
        try:
            return tuple(sorted(path for path in self._folder.iterdir() if path.is_dir()))
        except FileNotFoundError:
            return ()


def _installed() -> set[Path]:
    """Return where the interpreter's packages are."""
    return {Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}


def _see_off(supervisor: identity.ProcessIdentity) -> None:
    """End a supervisor that has done its work, lest it be found as one without a record."""
    supervisor.signal(signal.SIGKILL)
    supervisor.await_end(seconds=_SEE_OFF_SECONDS)


def _supervisor(record: records.CommandRecord) -> identity.ProcessIdentity | None:
    return _noted(record.supervisor_path)


def _noted(path: Path) -> identity.ProcessIdentity | None:
    document = records.read(path)
    if document is None:
        return None
    return identity.ProcessIdentity(
        pid=document["pid"], start_ticks=document["start_ticks"], boot_id=document["boot_id"]
    )


def _observe(record: records.CommandRecord) -> ObservedProcess | None:
    """The process of a record; None while it was not started yet."""
    launch = records.read(record.launch_path)
    start = records.read(record.supervisor_path)
    supervisor = _supervisor(record)
    if launch is None or start is None or supervisor is None:
        return None
    ending = records.read(record.exit_path)
    if ending is None and not supervisor.is_alive():
        ending = _ending_of_killed(record)
    return ObservedProcess(
        labels=_labels(launch["labels"]),
        node=launch["node"],
        phase=ProcessPhase.RUNNING if ending is None else ProcessPhase.EXITED,
        started_at=_moment(start["started_at"]),
        exit_code=None if ending is None else ending["exit_code"],
        ended_at=None if ending is None else _moment(ending["ended_at"]),
    )


def _ending_of_killed(record: records.CommandRecord) -> dict[str, Any] | None:
    """Put on record that a supervisor was killed; the kernel killed its command with it.

    None while any of it is there: as long its GPU must not be given to another.
    """
    command = _noted(record.command_path)  # while it ends it carries no mark any more
    is_over = leftovers.see_off(record.folder, user=_user_of(record), seconds=_SEE_OFF_SECONDS)
    if not is_over or (command and not command.await_end(seconds=_SEE_OFF_SECONDS)):
        return None
    killed = {"exit_code": -int(signal.SIGKILL), "ended_at": time.time()}
    with contextlib.suppress(OSError):  # a full disk: it is put on record by a later look
        records.create_once(record.exit_path, killed)
    return records.read(record.exit_path) or killed


def _user_of(record: records.CommandRecord) -> int | None:
    launch = records.read(record.launch_path) or {"command": {}}
    user: int | None = launch["command"].get("user")
    return user


def _unrecorded(found: leftovers.LeftoverSupervisor) -> ObservedProcess:
    """A process whose record is gone, known by what its supervisor carries with it."""
    return ObservedProcess(
        labels=_labels(found.labels),
        node="",
        phase=ProcessPhase.RUNNING,
        started_at=datetime.now(UTC),
    )


def _labels(document: dict[str, Any]) -> Labels:
    return Labels(**{**document, "role": ProcessRole(document["role"])})


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
