"""Which processes of this machine are ours, whatever the records say?

Everything the host starts carries its record's folder in its environment, so it is found by
looking through `/proc`, even when records were deleted or a supervisor was killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.process_host.record import environments, identity, records


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftoverSupervisor:
    """A running supervisor, with the labels it was started with."""

    identity: identity.ProcessIdentity
    labels: dict[str, Any]


def supervisors(folder: Path) -> dict[str, LeftoverSupervisor]:
    """Running supervisors of the records in this folder, by process id."""
    found = {}
    for process, environ in _processes():
        record = Path(environ.get(records.RECORD_VARIABLE, ""))
        labels = environ.get(records.LABELS_VARIABLE)
        if record.parent == folder and labels is not None and _is_of(process, {os.geteuid()}):
            with contextlib.suppress(ValueError):  # whatever that is, it is no supervisor
                found[record.name] = LeftoverSupervisor(identity=process, labels=json.loads(labels))
    return found


def kill(record_folder: Path) -> int:
    """Kill all that belongs to one record; returns how many processes that were."""
    return _kill(_found(lambda record: record == record_folder))


def kill_all(folder: Path) -> int:
    """Kill all that belongs to any record in this folder."""
    return _kill(_found(lambda record: record.parent == folder))


def see_off(record_folder: Path, *, user: int | None, seconds: float) -> bool:
    """Kill all that belongs to one record; False: some of it is still there after the time.

    Other users' processes that carry its mark are not its own, as nobody of another team may keep
    it from ending; `user` is the number of the one that it ran as, None: the service's.
    """
    give_up_at = time.monotonic() + seconds
    users = {os.geteuid(), user}
    while left := [
        process
        for process in _found(lambda record: record == record_folder)
        if _is_of(process, users)
    ]:
        _kill(left)
        for process in left:
            if not process.await_end(seconds=give_up_at - time.monotonic()):
                return False
    return True


def _kill(processes: Iterable[identity.ProcessIdentity]) -> int:
    return sum(process.signal(signal.SIGKILL) for process in processes)


def _found(is_ours: Callable[[Path], bool]) -> list[identity.ProcessIdentity]:
    return [
        process
        for process, environ in _processes()
        if records.RECORD_VARIABLE in environ
        and is_ours(Path(environ[records.RECORD_VARIABLE]))
        and process.pid != os.getpid()
    ]


def _is_of(process: identity.ProcessIdentity, users: Collection[int | None]) -> bool:
    """True if it runs as one of them; the owner of its folder in /proc does not tell."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text(errors="replace")
    except OSError:
        return False
    (line,) = (line for line in status.splitlines() if line.startswith("Uid:"))
    return int(line.split()[1]) in users


def _processes() -> Iterator[tuple[identity.ProcessIdentity, dict[str, str]]]:
    """Every process with a mark of ours whose environment we may read."""
    give_up_at = time.monotonic() + environments.PATIENCE_SECONDS
    for entry in os.listdir("/proc"):  # noqa: PTH208 - names are all we need
        if not entry.isdigit():
            continue
        try:
            raw = environments.raw(int(entry), give_up_at=give_up_at)
        except OSError:  # it ended, or it is none that we may look at
            continue
        if records.RECORD_VARIABLE.encode() not in raw:
            continue
        process = identity.of(int(entry))
        if process is not None:
            yield process, environments.parsed(raw)
