"""What did it cost to start scripts with other workers? Their logs are asked, now and then.

Soon after a restart, then ever more rarely, until they tell it or an hour is over. Each look reads
a bounded part of at most four logs, and no tick waits for it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final

from cluster.logs.log_store import JobLog
from cluster.worker_host import LogLine
from django.db import InterfaceError, OperationalError

from autoscaler.restart_costs.restart_cost import RestartCost, restart_cost, unknown_cost
from jobs.models import Generation

_SHORTEST_WAIT: Final = timedelta(seconds=5)
_LONGEST_WAIT: Final = timedelta(minutes=10)
_GIVEN_UP_AFTER: Final = timedelta(hours=1)  # guessed: longer than loading and compiling take
_MOST_AT_ONCE: Final = 20  # of the restarts of all jobs; the others are looked at next time
_OLD_LINES: Final = 20_000
_OLD_BYTES: Final = 1 << 20  # guessed: what is printed between two checkpoints
_NEW_LINES: Final = 2000
_NEW_BYTES: Final = 256 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """The parts of a job's logs that are asked."""

    job_id: str
    state_dir: Path

    def last_lines(self, worker: str) -> list[LogLine]:
        log = JobLog(job_id=self.job_id, state_dir=self.state_dir, worker=worker)
        return log.page(tail=_OLD_LINES, most_bytes=_OLD_BYTES).lines

    def first_lines(self, worker: str) -> list[LogLine] | None:
        """None: they are gone, so that what is first now was not."""
        log = JobLog(job_id=self.job_id, state_dir=self.state_dir, worker=worker)
        beginning = log.first()
        if beginning.is_trimmed:
            return None
        lines, held = [], 0
        for placed in islice(log.lines(beginning.positions), _NEW_LINES):
            held += placed.size
            if held > _NEW_BYTES:
                break
            lines.append(placed.line)
        return lines


def measure_restarts(now: datetime, state_dir: Path, *, has_time: Callable[[], bool]) -> int:
    """Look at the restarts that are due; returns how many were looked at."""
    due = Generation.objects.filter(restart_look_at__lte=now).order_by("restart_look_at")
    looked_at = 0
    for generation in due[:_MOST_AT_ONCE]:
        if not has_time():
            break
        _look(generation, Logs(job_id=generation.job_id, state_dir=state_dir), now)
        looked_at += 1
    return looked_at


def _look(generation: Generation, logs: Logs, now: datetime) -> None:
    """One whose logs cannot be read is asked again later, and keeps nobody waiting."""
    try:
        cost = _cost(generation, logs)
    except (OperationalError, InterfaceError):
        raise
    except Exception:  # whatever it is, the others go on
        extra = {"action": "measure_restarts", "job_id": generation.job_id}
        logging.getLogger(__name__).exception("The cost of a restart is not known.", extra=extra)
        cost = unknown_cost("Not known: its log could not be read.")
    is_over = cost.is_certain or generation.ended_at or now - generation.began_at >= _GIVEN_UP_AFTER
    looked_at = Generation.objects.filter(
        pk=generation.pk, restart_look_at=generation.restart_look_at
    )
    looked_at.update(
        restart_look_at=None if is_over else now + _wait(generation, now),
        restart_seconds=cost.seconds,
        restart_sign=cost.sign,
        repeated_units=cost.repeated_units,
        repeated_unit=cost.repeated_unit,
        repeated_seconds=cost.repeated_seconds,
        restart_message=cost.message,
    )


def _wait(generation: Generation, now: datetime) -> timedelta:
    return min(max((now - generation.began_at) / 2, _SHORTEST_WAIT), _LONGEST_WAIT)


def _cost(generation: Generation, logs: Logs) -> RestartCost:
    """Measure by the log of the first worker; where that tells nothing, by that of the last."""
    ordered_at = generation.restart_ordered_at or generation.began_at
    before = Generation.objects.filter(job_id=generation.job_id, number=generation.number - 1)
    former = before.first()
    ended_at = former.ended_at if former and former.ended_at else ordered_at
    costs = []
    for old, new in _pairs(former.worker_ids if former else [], generation.worker_ids):
        first_lines = logs.first_lines(new)
        if first_lines is None:
            costs.append(unknown_cost("Not known: the beginning of its log is gone."))
            continue
        cost = restart_cost(
            logs.last_lines(old) if old else [],
            first_lines,
            ordered_at=ordered_at,
            stopped_at=min(ordered_at, ended_at),
        )
        if cost.repeated_seconds is not None:
            return cost
        costs.append(cost)
    return costs[0]


def _pairs(old: list[str], new: list[str]) -> Iterator[tuple[str | None, str]]:
    """Workers that may write how far they are: usually the first, with some scripts the last."""
    yield (old[0] if old else None), new[0]
    if len(new) > 1 and len(old) > 1:
        yield old[-1], new[-1]
