"""What does the other team notice, how long do ticks take, and who uses the processor meanwhile?"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.hostile_tenant.ground import Ground, until

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "digits_cnn.py"
_TICK = re.compile(rb"Task autoscaler\.control_loop\.tasks\.tick\[[^]]*\] succeeded in ([0-9.]+)s")
_SERVICE = (b"gunicorn", b"celery", b"postgres", b"valkey")  # words in the command lines of its own
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Measured:
    """Everything that was measured in peace, or under attack."""

    accepted: list[float] = field(default_factory=list)  # seconds from submit to the answer
    first_step: list[float] = field(default_factory=list)  # seconds from submit
    ticks: list[float] = field(default_factory=list)  # seconds
    processor: Counter[str] = field(default_factory=Counter)  # seconds, by process
    seconds: float = 0.0

    def take(self, ground: Ground, submits: int, name: str) -> None:
        """Measure once more."""
        log = ground.checkout.logs_dir / "control.log"
        began, offset, used = time.monotonic(), log.stat().st_size, processor_seconds(ground)
        for number in range(submits):
            self._submit(ground, f"{name}-{number}")
        _wait_for_tick(log, offset)
        self.ticks += [float(seconds) for seconds in _TICK.findall(_tail(log, offset))]
        self.processor.update(processor_seconds(ground) - used)
        self.seconds += time.monotonic() - began

    def _submit(self, ground: Ground, name: str) -> None:
        began = time.monotonic()
        spec = {"name": name, "command": ["python", str(SCRIPT), "--epochs", "50"]}
        job = ground.client.submit(spec).job["id"]
        self.accepted.append(time.monotonic() - began)
        until(lambda: ground.ask("SELECT step FROM jobs_job WHERE id = %s", job)[0] > 0)
        self.first_step.append(time.monotonic() - began)
        ground.client.cancel(job)
        until(lambda: ground.ask("SELECT finished_at FROM jobs_job WHERE id = %s", job)[0])


def _wait_for_tick(log: Path, offset: int) -> None:
    """A tick that began in this phase has ended in it."""
    known = len(_TICK.findall(_tail(log, offset)))
    until(lambda: len(_TICK.findall(_tail(log, offset))) > known)


def _tail(log: Path, offset: int) -> bytes:
    with log.open("rb") as file:
        file.seek(offset)
        return file.read()


def processor_seconds(ground: Ground) -> Counter[str]:
    """What the service's own processes have used so far, by their name; jobs are not of them."""
    parents = dict(_parents())
    used: Counter[str] = Counter()
    for one in ground.record.processes:
        family = {one.pid}
        while more := {pid for pid, parent in parents.items() if parent in family} - family:
            family |= more
        used[one.name] = sum(_used(pid) for pid in family)  # type: ignore[misc] # seconds
    return used


def _parents() -> Iterator[tuple[int, int]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
                yield int(folder.name), int(stat[1])


def _used(pid: int) -> float:
    """The processor time of the process and of its children that have ended."""
    with suppress(OSError):
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        if any(word in command for word in _SERVICE):
            stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            return sum(map(int, stat[11:15])) / _TICKS_PER_SECOND
    return 0.0
