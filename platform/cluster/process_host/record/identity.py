"""Is this still the same process? A pid alone cannot tell: numbers are used again.

A process is known by its pid, the moment it started (in clock ticks since boot) and the boot it
started in. Linux only, like the rest of the process host.
"""

from __future__ import annotations

import os
import select
import signal
from dataclasses import dataclass
from pathlib import Path

_STATE = 0  # fields of /proc/<pid>/stat behind the name in parentheses
_THREADS = 17
_START_TICKS = 19
_DEAD_STATES = frozenset("ZXx")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """One process of one boot."""

    pid: int
    start_ticks: int
    boot_id: str

    def is_alive(self) -> bool:
        """True if it runs; one that ended and was not collected yet is dead."""
        fields = stat_fields(self.pid)
        return (
            fields is not None
            and not _is_dead(fields)
            and int(fields[_START_TICKS]) == self.start_ticks
            and boot_id() == self.boot_id
        )

    def signal(self, number: signal.Signals) -> bool:
        """Send the signal to this very process, never to another one; False: it is gone."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return False
        try:
            if not self.is_alive():
                return False
            signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            return False
        finally:
            os.close(descriptor)
        return True

    def await_end(self, *, seconds: float) -> bool:
        """True if it ends within the time, with all threads, and has given back what it held."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            end = select.poll()
            end.register(descriptor, select.POLLIN)
            return not self.is_alive() or bool(end.poll(max(seconds, 0.0) * 1000))
        finally:
            os.close(descriptor)


def of(pid: int) -> ProcessIdentity | None:
    """The identity of a running process; None: there is none of this pid."""
    fields = stat_fields(pid)
    if fields is None or _is_dead(fields):
        return None
    return ProcessIdentity(pid=pid, start_ticks=int(fields[_START_TICKS]), boot_id=boot_id())


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _is_dead(fields: list[str]) -> bool:
    """The first thread may have ended before the others."""
    return fields[_STATE] in _DEAD_STATES and int(fields[_THREADS]) <= 1


def stat_fields(pid: int) -> list[str] | None:
    """Return what `/proc/<pid>/stat` tells behind the name in parentheses; None: there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()
