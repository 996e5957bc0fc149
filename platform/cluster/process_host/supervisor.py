"""Who stays with a process until it ends? Its supervisor, one small program per process.

Started as `python -S -E -m cluster.process_host.supervisor <record folder>`, by the host or by a
zygote, which adds where its warm child is, it leaves the service's process tree, runs the command
of `launch.json`, writes its log, carries out `stop.json` (SIGTERM, after the grace period SIGKILL),
and finally writes `exit.json`. When it is killed, the kernel kills the command. Standard library
only: it must start in milliseconds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Final

from cluster.logs import log_lines
from cluster.logs.log_files import LogBounds
from cluster.logs.pace import LogRateLimiter
from cluster.process_host.commands import command, warm
from cluster.process_host.record import identity, records

_DRAIN_SECONDS: Final = 1.0  # for output still in the pipes after the end
_REAP_SECONDS: Final = 5.0  # for killed leftovers to go; longer only in the kernel's own trouble
_DEFAULT_GRACE_SECONDS: Final = 10.0  # when asked to end without a `stop.json`
_RECORD_SECONDS: Final = 3600.0  # guessed: for a full disk to get room; its GPU waits as long
_RECORD_POLL_SECONDS: Final = 0.5
_CHUNK_BYTES: Final = 64 * 1024


class CommandSupervisor:
    """Runs one command from start to `exit.json`."""

    def __init__(
        self, record: records.CommandRecord, warm_child: warm.WarmChild | None = None
    ) -> None:
        self._record = record
        self._warm_child = warm_child
        self._selector = selectors.DefaultSelector()
        self._splitters: dict[str, log_lines.LineSplitter] = {}
        self._log: log_lines.LineLog | None = None
        self._pace = LogRateLimiter()
        self._pid = 0
        self._kill_at: float | None = None
        self._exit_code: int | None = None

    def run(self, *, ready: int) -> None:
        """Run the command; closes the descriptor `ready` once the start is on record."""
        launch = records.read(self._record.launch_path)
        if launch is None or not _owns(self._record) or self._record.was_started:
            return
        self._watch_signals()
        command.adopt_grandchildren()
        _note(self._record.supervisor_path, os.getpid(), started_at=time.time())
        os.close(ready)
        if self._record.stop_path.exists():
            self._exit_code = -signal.SIGTERM
        else:
            bounds = LogBounds(**launch.get("log_bounds", {}))
            self._log = log_lines.LineLog(Path(launch["log_path"]), bounds)
            self._pid = self._spawn(launch)
            with contextlib.suppress(OSError):  # a lost record, a full disk: it runs nevertheless
                _note(self._record.command_path, self._pid)
            self._stay()
        _put_on_record(self._record, {"exit_code": self._exit_code, "ended_at": time.time()})

    def _spawn(self, launch: dict[str, object]) -> int:
        what = command.ProcessCommand(**launch["command"])  # type: ignore[arg-type]  # our own JSON
        writers = {stream: self._pipe(stream) for stream in ("stdout", "stderr")}
        if what.user is not None:
            for writer in writers.values():
                os.fchown(writer, what.user, what.user)  # else /dev/stderr is closed to it
        pid = warm.spawn(self._warm_child, what, **writers)
        for writer in writers.values():
            os.close(writer)
        return pid

    def _pipe(self, stream: str) -> int:
        reader, writer = os.pipe()
        self._splitters[stream] = log_lines.LineSplitter()
        self._selector.register(reader, selectors.EVENT_READ, stream)
        return writer

    def _watch_signals(self) -> None:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self._selector.register(reader, selectors.EVENT_READ, None)

    def _stay(self) -> None:
        while self._exit_code is None:
            for key, _ in self._selector.select(self._seconds_to_kill()):
                self._handle(key)
            if self._kill_at is not None and time.monotonic() >= self._kill_at:
                self._signal_group(signal.SIGKILL)
                self._kill_at = time.monotonic() + _REAP_SECONDS
            self._reap()
        self._kill_leftovers()
        self._drain()

    def _seconds_to_kill(self) -> float | None:
        return None if self._kill_at is None else max(self._kill_at - time.monotonic(), 0.0)

    def _handle(self, key: selectors.SelectorKey) -> None:
        if key.data is not None:
            self._copy(key.fd, key.data)
        elif signal.SIGTERM in os.read(key.fd, _CHUNK_BYTES):
            self._stop()

    def _copy(self, descriptor: int, stream: str) -> None:
        data = os.read(descriptor, _CHUNK_BYTES)
        splitter = self._splitters[stream]
        lines = splitter.feed(data, now=time.monotonic()) if data else splitter.flush()
        if lines and self._log is not None:
            self._log.write(stream, lines)
        self._pace.take(len(data) + log_lines.STAMP_BYTES * len(lines))
        if not data:
            self._selector.unregister(descriptor)
            os.close(descriptor)

    def _stop(self) -> None:
        wish = records.read(self._record.stop_path) or {}
        grace_seconds = float(wish.get("grace_seconds", _DEFAULT_GRACE_SECONDS))
        kill_at = time.monotonic() + grace_seconds
        if self._kill_at is None:
            self._signal_group(signal.SIGTERM)
        self._kill_at = kill_at if self._kill_at is None else min(self._kill_at, kill_at)

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, number)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._pid:
                    self._exit_code = os.waitstatus_to_exitcode(status)

    def _kill_leftovers(self) -> None:
        """Nothing of a process outlives it: kill its group and all that was adopted."""
        self._signal_group(signal.SIGKILL)
        give_up_at = time.monotonic() + _REAP_SECONDS
        while (children := _children()) and time.monotonic() < give_up_at:
            for pid in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._reap()
            time.sleep(0.01)

    def _drain(self) -> None:
        give_up_at = time.monotonic() + _DRAIN_SECONDS
        while len(self._selector.get_map()) > 1 and time.monotonic() < give_up_at:
            for key, _ in self._selector.select(_DRAIN_SECONDS):
                if key.data is not None:
                    self._copy(key.fd, key.data)
        for stream, splitter in self._splitters.items():
            if self._log is not None and (rest := splitter.flush()):
                self._log.write(stream, rest)


def main(folder: str, *warm_start: str) -> None:
    """Leave the caller's process tree, tell it when the start is on record, and supervise."""
    record = records.CommandRecord(folder=Path(folder))
    if warm_start:  # a zygote has seen to the rest
        warm_child = warm.inherited(*map(int, warm_start))
        os.chdir("/")
        CommandSupervisor(record, warm_child).run(ready=warm_child.connection)
        return
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    os.setsid()
    os.chdir("/")
    os.close(reader)
    CommandSupervisor(record).run(ready=writer)


def _owns(record: records.CommandRecord) -> bool:
    """True if this is the only supervisor of the record; held until the process ends."""
    descriptor = os.open(record.lock_path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _note(path: Path, pid: int, **more: object) -> None:
    """Put on record which process this is, if it has not ended already."""
    if process := identity.of(pid):
        records.replace(path, {**asdict(process), **more})


def _put_on_record(record: records.CommandRecord, ending: dict[str, object]) -> None:
    """However long the disk is full: without a record, success would count as a kill.

    Not for ever, and not where the record itself is gone.
    """
    give_up_at = time.monotonic() + _RECORD_SECONDS
    while True:
        try:
            records.create_once(record.exit_path, ending)
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(_RECORD_POLL_SECONDS)
        else:
            return


def _children() -> list[int]:
    pid = os.getpid()
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


if __name__ == "__main__":
    main(*sys.argv[1:])
