"""How is the attendant started beside a worker of this machine?"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cluster.process_host.commands.plain_python import DEFAULT_PATH
from cluster.process_host.record import records
from cluster.source_root import SOURCE_ROOT
from cluster.worker_host import CannotEnter, ProcessRole, WorkerNotThere

_CHUNK: Final = 1 << 16
_LOOK_SECONDS: Final = 1.0
_SEND_SECONDS: Final = 10.0  # an attendant always reads
_SEE_OFF_SECONDS: Final = 5.0  # the attendant takes two to kill what ignores it
_KILL_SECONDS: Final = 5.0  # for the threshold to kill an attendant that does not end


class AttendantProcess:
    """The attendant as a child of ours, and its pipes."""

    def __init__(self, process: subprocess.Popen[bytes], record: records.CommandRecord) -> None:
        self._process = process
        self._record = record
        self._has_spoken = False
        self._is_over = False
        self._looked_at = time.monotonic()

    def read(self) -> bytes | None:
        """See `ShellStream`. The worker's end is its end. Raises: CannotEnter."""
        output = self._process.stdout
        if output is None or self._is_over:
            return b""
        has_come = bool(select.select([output], [], [], _LOOK_SECONDS)[0])
        now = time.monotonic()
        if not has_come or now - self._looked_at >= _LOOK_SECONDS:  # however much is written
            self._looked_at = now
            self._is_over = not _runs(self._record)
        if self._is_over:
            return b""
        if not has_come:
            return None
        data = os.read(output.fileno(), _CHUNK)
        self._is_over = not data
        if not data and not self._has_spoken and _runs(self._record):
            said = self._process.stderr.read() if self._process.stderr else b""
            words = said.decode(errors="replace").strip()[-1000:]
            if words:  # else somebody killed it
                raise CannotEnter(f"Nothing can be started beside this worker: {words}")
        self._has_spoken = True
        return data

    def write(self, data: bytes) -> None:
        if self._process.stdin is None or self._process.stdin.closed:
            raise BrokenPipeError
        descriptor, rest = self._process.stdin.fileno(), memoryview(data)
        while rest:
            if not select.select([], [descriptor], [], _SEND_SECONDS)[1]:
                raise TimeoutError("The command's attendant does not answer.")
            rest = rest[os.write(descriptor, rest) :]

    def hang_up(self) -> None:
        """See `ShellStream`. Waits until the attendant has ended all."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(_SEE_OFF_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()

    def _kill(self) -> None:
        """Have the threshold kill the attendant, which somebody stopped, and all that it left."""
        self._process.terminate()
        try:
            self._process.wait(_KILL_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        self.hang_up()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineEntrance:
    """Leads beside workers of this machine. Nothing is isolated there but users, where they are."""

    record_of: Callable[[str], records.CommandRecord]

    def enter(self, process_id: str, *, node: str) -> AttendantProcess:  # noqa: ARG002 - there is one machine
        """See `WorkerEntrance`."""
        record = self.record_of(process_id)
        launch = records.read(record.launch_path)
        is_worker = launch is not None and launch["labels"]["role"] == ProcessRole.WORKER
        if not is_worker or not _runs(record):
            raise WorkerNotThere(f"{process_id} does not run here.")
        process = subprocess.Popen(  # noqa: S603 - our own program
            (sys.executable, "-S", "-E", "-m", __package__ + ".threshold", str(record.folder)),
            cwd=SOURCE_ROOT,
            env={"PATH": DEFAULT_PATH},  # what the service knows stays with it
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
        return AttendantProcess(process, record)


def _runs(record: records.CommandRecord) -> bool:
    """True if it began and has not ended; a record that was forgotten is of one that has."""
    return record.command_path.exists() and not record.exit_path.exists()
